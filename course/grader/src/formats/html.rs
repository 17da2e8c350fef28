//! One HTML file for the instructor: the class on top, then a section per student. It loads nothing and runs no
//! scripts.

use std::collections::BTreeMap;

use catalog::{statistics::median, text::escaped};
use tasks::verdict::Status;

use super::feedback;
use crate::grade::{ClassGrades, Student};
use crate::score::format_points;

const STYLE: &str = include_str!("html.css");

/// Limit of students named in a cell.
const MAX_NAMED: usize = 8;

pub(crate) fn report(class: &ClassGrades) -> String {
    let title = match class.title.as_str() {
        "" => "Grades",
        title => title,
    };
    let mut out = head(title);
    out.push_str(&summary(class));
    out.push_str(&parts(class));
    out.push_str(&misconceptions(class));
    out.push_str(&similar(class));
    out.push_str(&students(class));
    out.extend(class.students.iter().enumerate().map(|(at, student)| section(Some(at), student, class.max)));
    out + "</body>\n</html>\n"
}

/// Returns the page of one student, to hand out.
pub(crate) fn page(class: &ClassGrades, student: &Student) -> String {
    head(&class.title) + &section(None, student, class.max) + "</body>\n</html>\n"
}

fn head(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        escaped(title)
    )
}

fn link(class: &ClassGrades, name: &str) -> String {
    match class.students.iter().position(|student| student.name == name) {
        Some(at) => format!("<a href=\"#s{}\">{}</a>", at + 1, escaped(name)),
        None => escaped(name),
    }
}

fn names(class: &ClassGrades, names: &[&str]) -> String {
    let mut text: Vec<String> = names.iter().take(MAX_NAMED).map(|name| link(class, name)).collect();
    if names.len() > MAX_NAMED {
        text.push(format!("and {} more", names.len() - MAX_NAMED));
    }
    text.join(", ")
}

fn summary(class: &ClassGrades) -> String {
    let n = class.students.len();
    let points: Vec<f64> = class.students.iter().map(|student| student.points).collect();
    let mean = points.iter().sum::<f64>() / n.max(1) as f64;
    let warned = class.students.iter().filter(|student| !student.warnings.is_empty());
    let warned: Vec<&str> = warned.map(|student| student.name.as_str()).collect();
    let mut out = format!(
        "<p>{n} students, {} points at most. Mean {}, median {}.</p>\n",
        format_points(class.max),
        format_points(mean),
        format_points(median(points.clone()).unwrap_or_default())
    );
    if !warned.is_empty() {
        out.push_str(&format!("<p class=\"failed\">Look at them by hand: {}.</p>\n", names(class, &warned)));
    }
    // Histogram of the students' shares of the points.
    const BINS: usize = 10;
    let mut bins = [0usize; BINS + 1];
    for value in &points {
        let share = if class.max > 0.0 { value / class.max } else { 0.0 };
        bins[((share * BINS as f64) as usize).min(BINS)] += 1;
    }
    let row = |(at, count): (usize, usize)| {
        let label = match at {
            BINS => "all".to_owned(),
            at => format!("{} – {} %", at * 100 / BINS, (at + 1) * 100 / BINS),
        };
        [label, count.to_string(), meter(count, n.max(1))]
    };
    let rows = bins.into_iter().enumerate().map(row);
    out + "<h2>Points</h2>\n" + &table(["share of the points", "#students", ""], rows)
}

/// Returns a table. Columns whose heading begins with # hold numbers.
fn table<const N: usize>(headings: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let row = |tag: &str, cells: [&str; N]| {
        let cell = |(heading, content): (&&str, &str)| match heading.starts_with('#') {
            true => format!("<{tag} class=\"n\">{content}</{tag}>"),
            false => format!("<{tag}>{content}</{tag}>"),
        };
        format!("<tr>{}</tr>\n", headings.iter().zip(cells).map(cell).collect::<String>())
    };
    let head = row("th", headings.map(|heading| heading.trim_start_matches('#')));
    let rows: String = rows.into_iter().map(|cells| row("td", cells.each_ref().map(String::as_str))).collect();
    format!("<table>\n{head}{rows}</table>\n")
}

fn meter(value: usize, max: usize) -> String {
    format!("<meter min=\"0\" max=\"{max}\" value=\"{value}\">{value}</meter>")
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

fn parts(class: &ClassGrades) -> String {
    let Some(first) = class.students.first() else { return String::new() };
    let n = class.students.len();
    let rows = first.items.iter().map(|item| {
        let all = class.students.iter().flat_map(|student| &student.items);
        let passed = all.filter(|other| other.id == item.id && other.status == Status::Passed).count();
        [code(&item.id), escaped(&item.what), format!("{passed} of {n}"), meter(passed, n)]
    });
    String::from("<h2>What was reached</h2>\n") + &table(["part", "what", "#passed", ""], rows)
}

/// Failures by code: their number, and the text of the first.
fn misconceptions(class: &ClassGrades) -> String {
    let mut codes: BTreeMap<(String, String), (String, Vec<&str>)> = BTreeMap::new();
    for student in &class.students {
        for verdict in &student.verdicts {
            for code in verdict.codes() {
                let found = verdict.findings.iter().find(|found| found.code == code).map(|found| &found.title);
                let of_part = || verdict.parts.iter().find(|part| part.id == code)?.why.as_ref();
                let title = found.or_else(of_part).or(verdict.why.as_ref()).cloned().unwrap_or_default();
                let entry = codes.entry((verdict.task.to_string(), code));
                let (_, names) = entry.or_insert_with(|| (title, Vec::new()));
                names.push(&student.name);
            }
        }
    }
    if codes.is_empty() {
        return String::new();
    }
    let mut rows: Vec<_> = codes.into_iter().collect();
    rows.sort_by_key(|(_, (_, names))| std::cmp::Reverse(names.len()));
    let rows = rows.into_iter().map(|((task, of_failure), (title, who))| {
        let title = escaped(&crate::plain(&title));
        [escaped(&task), code(&of_failure), who.len().to_string(), title, names(class, &who)]
    });
    String::from("<h2>What went wrong</h2>\n") + &table(["task", "code", "#students", "for example", "who"], rows)
}

fn similar(class: &ClassGrades) -> String {
    let row = |task: &str, who: &[String], how: String| {
        [escaped(task), names(class, &who.iter().map(String::as_str).collect::<Vec<_>>()), how]
    };
    let same = class.same.iter().map(|same| {
        let how = if same.renamed { "the same kernel, with other names or numbers" } else { "the same kernel" };
        row(&same.task, &same.students, how.to_owned())
    });
    let pairs = class.similar.iter().map(|pair| {
        let how = format!("{:.0} % of the shorter one, {} passages", 100.0 * pair.share, pair.passages);
        row(&pair.task, &pair.students, how)
    });
    let rows: Vec<[String; 3]> = same.chain(pairs).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "<h2>In common</h2>\n<p>Which submissions to read side by side. Comments do not count, nor does what the \
                 starter has, and in passages neither do names and numbers. Two people with one idea can look like this, \
                 too: it proves nothing.</p>\n";
    words.to_owned() + &table(["task", "students", "in common"], rows)
}

fn students(class: &ClassGrades) -> String {
    let rows = class.students.iter().map(|student| {
        let codes: Vec<String> = student.verdicts.iter().flat_map(tasks::Verdict::codes).collect();
        [link(class, &student.name), format_points(student.points), code(&codes.join(" "))]
    });
    String::from("<h2>Students</h2>\n") + &table(["student", "#points", "codes"], rows)
}

/// Returns the section of a student in the report of the class, by its number, or alone.
fn section(at: Option<usize>, student: &Student, max: f64) -> String {
    let (id, back) = match at {
        Some(at) => (format!(" id=\"s{}\"", at + 1), " <a href=\"#\">Back to the class</a>"),
        None => (String::new(), ""),
    };
    let name = student.person.as_ref().map(|person| person.name.as_str()).filter(|name| !name.is_empty());
    let mut out = format!(
        "<section{id}>\n<h2>{}</h2>\n<p>{} of {} points.{back}</p>\n",
        escaped(&name.map_or(student.name.clone(), |name| format!("{name} ({})", student.name))),
        format_points(student.points),
        format_points(max)
    );
    student.notes.iter().for_each(|note| out.push_str(&format!("<p>{}</p>\n", escaped(note))));
    out.push_str("<table>\n<tr><th>part</th><th>what</th><th>outcome</th><th class=\"n\">points</th></tr>\n");
    for item in &student.items {
        let is_part = item.points > 0.0 && item.status != Status::Passed;
        let class = match item.status {
            Status::Passed => "passed",
            Status::Failed if !is_part => "failed",
            _ => "",
        };
        let why = item.why.as_ref().map(|why| format!("<br>{}", escaped(&crate::plain(why)))).unwrap_or_default();
        out.push_str(&format!(
            "<tr><td><code>{}</code></td><td>{}{why}</td><td class=\"{class}\">{}</td><td class=\"n\">{} of {}</td></tr>\n",
            escaped(&item.id),
            escaped(&item.what),
            if is_part { "in part" } else { item.status.label() },
            format_points(item.points),
            format_points(item.max)
        ));
    }
    out.push_str("</table>\n");
    for verdict in student.verdicts.iter().filter(|verdict| verdict.status != Status::Passed) {
        let text = feedback(verdict);
        if !text.is_empty() {
            out.push_str(&format!("<h3>{}</h3>\n<pre>{}</pre>\n", escaped(&verdict.task.to_string()), escaped(&text)));
        }
    }
    out + "</section>\n"
}
