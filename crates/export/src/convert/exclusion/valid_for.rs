//! `--valid-for`: the chat template of a model renders each row, and rows that the template refuses are left out.
//!
//! The message of the template (roles have to alternate, a role is unknown) is the reason of the row.

use std::path::Path;

use chatmill_diag::Limits;
use chatmill_dialect::TemplateDialect;
use chatmill_dialect::template::{Blueprint, TokenizerConfig};

use crate::error::ExportError;
use crate::fields;
use crate::filter::reasons::TEMPLATE;

/// The dialect with the messages that a template expects.
const DIALECT: &str = "hf-messages";

/// The most characters of a template's message in a reason.
const LONGEST_REASON: usize = 120;

/// The date of `strftime_now`; a fixed one, so that no row is refused because of the date.
const ANY_DAY: &str = "2026-01-01";

/// A template that has to accept the rows of an export.
pub(crate) struct ValidFor(TemplateDialect);

impl ValidFor {
    /// Reads a Jinja file, or a `tokenizer_config.json` with a template in it, for rows of a dialect.
    pub(crate) fn read(path: &Path, dialect: &str) -> Result<Self, ExportError> {
        if dialect != DIALECT {
            return Err(ExportError::request(
                format!("`--valid-for` works with the messages of `{DIALECT}`, not with `{dialect}`"),
                format!(
                    "use `--dialect {DIALECT}`; `--valid` validates the rows of a template that is a dialect of the run"
                ),
            ));
        }
        let limits = Limits::default();
        let step = "name a Jinja file or a tokenizer_config.json";
        let text = ExportError::reading(path, limits.template_file, step)?;
        let unusable = |reason: &str| {
            ExportError::request(
                format!("{} is no chat template: {reason}", path.display()),
                "name a Jinja file or a tokenizer_config.json with a chat_template",
            )
        };
        let ending = path.extension();
        let is_config = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let blueprint = if is_config {
            let config = TokenizerConfig::read(&text).map_err(|error| unusable(&error.to_string()))?;
            let source = config.templates.get("default").cloned();
            let tokens = config.tokens.into_iter();
            Blueprint {
                source: source.ok_or_else(|| unusable("it has no template named `default`"))?,
                tool_source: config.templates.get("tool_use").cloned(),
                variables: tokens.map(|(name, token)| (name, token.into())).collect(),
                ..Blueprint::default()
            }
        } else {
            Blueprint {
                source: text,
                ..Blueprint::default()
            }
        };
        let template = TemplateDialect::new(Blueprint {
            id: "valid-for".to_owned(),
            now: Some(ANY_DAY.to_owned()),
            limits,
            ..blueprint
        });
        template.map(Self).map_err(|error| unusable(&error.to_string()))
    }

    /// The reason for which the template refuses a rendering; `None` if it accepts it.
    pub(crate) fn refusal(&self, content: &str) -> Option<String> {
        let fields = fields::of(content)?;
        let value = |name: &str| {
            let field = fields.iter().find(|field| field.name == name)?;
            Some(field.json.as_ref())
        };
        let refusal = self.0.accepts(value("messages")?, value("tools")).err()?;
        let line = refusal.lines().next().unwrap_or_default();
        Some(TEMPLATE.because(line.chars().take(LONGEST_REASON).collect::<String>()))
    }
}
