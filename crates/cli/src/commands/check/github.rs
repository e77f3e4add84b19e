//! `--output-format github`: commands that the runner of GitHub Actions turns into annotations of the changed files.
//!
//! The runner shows ten annotations of each severity per step; the log contains all of them.

use std::io::{self, Write};

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Severity;
use chatmill_diag::visible::visible;
use chatmill_engine::check::Checked;

use super::report::{Report, place_inside, with_times};

/// The report of `--output-format github`.
pub(super) struct Github;

impl Report for Github {
    fn finding(&mut self, out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        out.write_all(command(checked, row).as_bytes())
    }
}

fn command(checked: &Checked, row: &FindingRow) -> String {
    let command = match checked.located.finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let title = property(&format!("{} {}", row.code, row.name));
    let mut text = format!("::{command} title={title},file={}", property(row.input));
    // The line is that of the member, not of the archive, which is the file that GitHub knows.
    if row.entry.is_empty() {
        for (name, number) in [("line", row.line_number), ("col", row.column_number)] {
            if let Some(number) = number {
                text.push_str(&format!(",{name}={number}"));
            }
        }
    }
    let is_shown = row.entry.is_empty() && (row.line_number.is_some() || checked.table.is_empty());
    let place = if is_shown {
        String::new()
    } else {
        format!("{}: ", place_inside(checked, row).trim_start_matches('!'))
    };
    text.push_str(&format!(
        "::{}\n",
        data(&format!("{place}{}", with_times(row.message, row.count)))
    ));
    text
}

/// Escapes the text after the second pair of colons.
fn data(text: &str) -> String {
    visible(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property, which a comma or a colon would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::dangling;
    use super::*;

    fn rendered(checked: &Checked) -> String {
        command(
            checked,
            &checked.row(&checked.texts(chatmill_engine::check::Quoting::All)),
        )
    }

    #[test]
    fn a_finding_in_a_file_has_its_line_and_one_in_an_archive_its_member() {
        let mut checked = dangling();
        assert_eq!(
            rendered(&checked),
            "::warning title=RF001 dangling-reference,file=a.zip::chat.json:4:9: no such message (3 times)\n"
        );
        checked.entry = String::new();
        checked.located.finding.count = 1;
        assert_eq!(
            rendered(&checked),
            "::warning title=RF001 dangling-reference,file=a.zip,line=4,col=9::no such message\n"
        );
    }

    #[test]
    fn nothing_ends_a_command_or_a_property_before_its_end() {
        let mut checked = dangling();
        checked.entry = String::new();
        checked.path = "a,b:c%\n::error::d".into();
        checked.located.finding.message = "50 %\n::error::e".into();
        assert_eq!(
            rendered(&checked),
            "::warning title=RF001 dangling-reference,file=a%2Cb%3Ac%25\\n%3A%3Aerror%3A%3Ad,line=4,col=9::50 \
             %25\\n::error::e (3 times)\n"
        );
    }
}
