//! JUnit XML for CI systems: a suite per student, a case per item.

use catalog::text::escaped;
use tasks::verdict::Status;

use crate::grade::Class;

pub(crate) fn report(class: &Class) -> String {
    let items = || class.students.iter().flat_map(|student| &student.items);
    let count = |status: Status| items().filter(|item| item.status == status).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" \
         skipped=\"{}\">\n",
        escaped(&class.title),
        items().count(),
        count(Status::Failed),
        count(Status::NotRun)
    );
    for student in &class.students {
        let count = |status: Status| student.items.iter().filter(|item| item.status == status).count();
        out.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
            escaped(&student.name),
            student.items.len(),
            count(Status::Failed),
            count(Status::NotRun)
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
                Status::Failed => format!(
                    "{head}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                    why.replace('\n', " "),
                    escaped(&super::output_of(student, item))
                ),
                Status::NotRun => {
                    format!("{head}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", why.replace('\n', " "))
                }
            });
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}
