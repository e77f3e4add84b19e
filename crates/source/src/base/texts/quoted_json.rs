//! Fields of a row with JSON inside a string, through one or several layers of quoting.
//!
//! Such a field is scanned as a separate document. Byte positions inside it mean nothing in the frame, so findings about it are reported at
//! the field.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use chatmill_diag::{Finding, Limits, Path};
use chatmill_intake::json::{self, Document, Value};

use crate::base::notes::Site;

/// The most layers of strings inside strings that are unwrapped.
const MAX_QUOTING_LAYERS: usize = 4;

/// Opens the array or object inside a string; `None` for every other value. Its unread values are reported like any others.
pub(crate) fn open(value: Value<'_>, limits: &Limits) -> Option<Rc<Document<'static>>> {
    let mut text = value.string()?;
    for _ in 0..MAX_QUOTING_LAYERS {
        match text.trim_start().as_bytes().first()? {
            b'{' | b'[' => return value.open(&text, limits.depth).ok(),
            b'"' => {
                let inner = {
                    let document = json::scan(text.as_bytes(), limits.depth).ok()?;
                    document.root().as_str()?.into_owned()
                };
                text = Cow::Owned(inner);
            }
            _ => return None,
        }
    }
    None
}

/// The form of a field's value, for the paths of findings inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellForm {
    /// A value: paths inside are below the field.
    Value,
    /// A list that is read by its name: paths inside begin with that name.
    Named,
    /// JSON in a string: findings are reported at the field itself.
    Quoted,
}

/// The place that findings of a field are attributed to.
#[derive(Debug)]
pub(crate) struct CellPlace {
    /// The field, as a path below the row: `.content`.
    pub field: &'static str,
    /// The bytes of the field in the frame.
    pub span: Range<usize>,
    /// The form of its value.
    pub form: CellForm,
}

impl CellPlace {
    /// Reads the value inside the field, and reports its findings at the row.
    pub(crate) fn read<T>(
        &self,
        inside: Value<'_>,
        site: &mut Site<'_>,
        read: impl FnOnce(&mut Site<'_>) -> T,
    ) -> T {
        let mut found = site.notes.empty_copy();
        let read = read(&mut site.inside(&mut found, inside));
        for mut finding in found.findings {
            if let Path::InMessage(suffix) = &finding.path {
                finding.path = Path::InMessage(match self.form {
                    CellForm::Quoted => self.field.to_owned(),
                    CellForm::Named if !suffix.is_empty() => suffix.clone(),
                    CellForm::Value | CellForm::Named => format!("{}{suffix}", self.field),
                });
            }
            if self.form == CellForm::Quoted {
                finding = site.notes.spanned(finding, self.span.clone());
            }
            site.notes.findings.push(finding);
        }
        read
    }

    /// Reports the scan notes of the quoted document, one finding for each code.
    pub(crate) fn report_scan(&self, document: &Document<'_>, site: &mut Site<'_>) {
        let mut found: Vec<Finding> = Vec::new();
        for note in document.notes() {
            if let Some(known) = found.iter_mut().find(|known| known.code == note.code) {
                known.count += 1;
                continue;
            }
            let finding = Finding::new(note.code, "found in the JSON that the field contains as a string");
            let finding = finding.at_message(site.position, site.id, self.field);
            found.push(site.notes.spanned(finding, self.span.clone()));
        }
        site.notes.findings.extend(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(record: &str) -> Option<String> {
        let document = json::scan(record.as_bytes(), 64).unwrap();
        open(document.root(), &Limits::default()).map(|inside| inside.text().to_owned())
    }

    /// The text as a JSON string, this many times.
    fn quoted(text: &str, layers: usize) -> String {
        (0..layers).fold(text.to_owned(), |inner, _| {
            let mut out = String::new();
            chatmill_model::json::push_string(&mut out, &inner);
            out
        })
    }

    #[test]
    fn quotes_are_taken_off_down_to_the_object() {
        for layers in 1..=4 {
            assert_eq!(
                text(&quoted(" {\"a\":1}", layers)).as_deref(),
                Some(" {\"a\":1}"),
                "{layers}"
            );
        }
        assert_eq!(text(&quoted("{}", 5)), None);
    }

    #[test]
    fn words_stay_words() {
        for sample in ["hello", "", "\"quoted\"", "12", "null", "\"{broken"] {
            assert_eq!(text(&quoted(sample, 1)), None, "{sample}");
        }
        assert_eq!(text("{}"), None, "an object is not a string");
    }
}
