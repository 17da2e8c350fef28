//! JUnit XML for CI systems: a suite per student, a case per item. An item that was not run counts as failed, since CI
//! systems show skipped cases as they show good ones.

use catalog::text::escaped;
use tasks::verdict::Status;

use crate::{grade::ClassGrades, score::Item};

pub(crate) fn report(class: &ClassGrades) -> String {
    let n_failed = |items: &[Item]| items.iter().filter(|item| item.status != Status::Passed).count();
    let all = class.students.iter().map(|student| (student.items.len(), n_failed(&student.items)));
    let (n, failed) = all.fold((0, 0), |sum, of_student| (sum.0 + of_student.0, sum.1 + of_student.1));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{n}\" failures=\"{failed}\">\n",
        escaped(&class.title),
    );
    for student in &class.students {
        out.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n",
            escaped(&student.name),
            student.items.len(),
            n_failed(&student.items)
        ));
        for item in &student.items {
            let head = format!(
                "    <testcase classname=\"{}\" name=\"{}\"",
                escaped(&student.name),
                escaped(&format!("{}: {}", item.id, item.what))
            );
            let why = escaped(item.why.as_deref().unwrap_or_default());
            out.push_str(&match item.status {
                Status::Passed => format!("{head}/>\n"),
                Status::Failed | Status::NotRun => format!(
                    "{head}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                    why.replace('\n', " "),
                    escaped(&super::output_of(student, item))
                ),
            });
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}
