//! Resolves `window.max_tokens`: the maximum tokens of a rendering, counted in one of the plan's encodings, or
//! in the chat template and with the tokenizer of a model. `windows` calls it.

use std::path::Path;

use chatmill_diag::Limits;
use chatmill_dialect::{Dialect, Policy, View};
use chatmill_model::{Conversation, Message, MessageOrigin, Part, Participant, ParticipantKind, Role};
use chatmill_token::Encoding;

use super::encodings;
use super::require;
use super::small_file::read_bytes;
use super::templates::Templates;
use crate::error::PlanError;
use crate::pipeline::MaxTokensSetting;

/// The maximum number of tokens of a rendering.
#[derive(Clone)]
pub struct Budget {
    /// The encoding for counting.
    pub encoding: Encoding,
    /// The number of tokens.
    pub tokens: u64,
    /// The maximum bytes of a rendering (`limits.rendering`): a longer one does not fit, whatever its tokens.
    pub bytes: u64,
    /// The template of which the text is counted instead of that of the dialect, as named in the pipeline file.
    pub template: Option<String>,
}

/// What the names in a budget can refer to, and the dialects that it applies to.
pub struct BudgetSources<'p> {
    /// The encodings of `count.encodings`.
    pub encodings: &'p [Encoding],
    /// Chat templates of the pipeline.
    pub templates: &'p Templates,
    /// The dialects that are rendered: with `window.same_for_all` a window must fit in each.
    pub targets: &'p [Dialect],
    /// The folder that relative paths start at.
    pub base: &'p Path,
}

impl BudgetSources<'_> {
    /// Resolves the budget, and its template if it has one.
    pub(super) fn budget(
        &self,
        most: &MaxTokensSetting,
        limits: &Limits,
    ) -> Result<(Budget, Option<Dialect>), PlanError> {
        require(
            most.tokens > 0,
            "window.max_tokens.tokens",
            "it must be 1 at least",
        )?;
        let (encoding, template) = match (&most.encoding, &most.template, &most.tokenizer) {
            (Some(name), None, None) => (self.counted(name)?, None),
            (None, Some(template), Some(tokenizer)) => {
                let template = self.template(template, limits)?;
                let (encoding, special) = self.tokenizer(tokenizer, limits)?;
                try_out(&template, special.as_deref())?;
                (encoding, Some(template))
            }
            _ => {
                let message = "it needs either `encoding`, or `template` with `tokenizer`";
                return Err(PlanError::value("window.max_tokens", message));
            }
        };
        let budget = Budget {
            encoding,
            tokens: most.tokens,
            bytes: limits.rendering,
            template: most.template.clone(),
        };
        Ok((budget, template))
    }

    /// Finds an encoding of `count.encodings`.
    fn counted(&self, name: &str) -> Result<Encoding, PlanError> {
        let counted = self.encodings.iter().find(|encoding| encoding.name() == name);
        counted.cloned().ok_or_else(|| {
            PlanError::unknown(
                "window.max_tokens.encoding",
                "encoding in count.encodings",
                name,
                self.encodings.iter().map(Encoding::name),
            )
        })
    }

    /// Finds a template of the pipeline by name, or reads one from a file.
    fn template(&self, word: &str, limits: &Limits) -> Result<Dialect, PlanError> {
        if let Some(known) = self.templates.get(word) {
            return Ok(known.clone());
        }
        Templates::of_file(word, self.base, limits)
    }

    /// Finds an encoding by name, or reads one from a file together with the special tokens that it lists.
    fn tokenizer(&self, word: &str, limits: &Limits) -> Result<(Encoding, Option<Vec<String>>), PlanError> {
        const KEY: &str = "window.max_tokens.tokenizer";
        if let Some(known) = encodings::named(self.encodings, word) {
            return Ok((known.clone(), None));
        }
        let unread = |error| {
            PlanError::value(
                KEY,
                format!("`{word}` is neither an encoding nor a readable file: {error}"),
            )
        };
        let text = read_bytes(&self.base.join(word), limits.vocabulary, unread)?;
        let encoding = Encoding::from_tokenizer("budget", &text);
        let known = encoding.and_then(|encoding| Ok((encoding, chatmill_token::added_tokens(&text)?)));
        known.map_err(|error| PlanError::value(KEY, format!("{word}: {error}")))
    }
}

/// Refuses a template that cannot render a question and an answer,
/// and one with special tokens that are missing in the tokenizer.
fn try_out(template: &Dialect, special: Option<&[String]>) -> Result<(), PlanError> {
    const KEY: &str = "window.max_tokens.template";
    let message = |role, sender, position, words: &str| Message {
        sender: Some(sender),
        parts: vec![Part::Text(words.to_owned())],
        ..Message::new(role, position, MessageOrigin::default())
    };
    let person = |id: &str, kind| Participant {
        id: id.to_owned(),
        kind,
        ..Participant::default()
    };
    let conversation = Conversation {
        participants: vec![
            person("user", ParticipantKind::Human),
            person("assistant", ParticipantKind::Agent),
        ],
        messages: vec![
            message(Role::User, 0, 0, "Which berth?"),
            message(Role::Assistant, 1, 1, "The second."),
        ],
        ..Conversation::default()
    };
    let (linked, ..) = chatmill_link::link(conversation, &Limits::default());
    let policy = Policy::default();
    let mut problem = None;
    template.render_each(&View::whole(&linked, Some(1), &policy), &mut |sink, rendering| {
        let violation = rendering.violations.first();
        problem = violation.map(|violation| {
            let message = format!("it cannot render a question and its answer: {violation}");
            PlanError::value(KEY, message)
        });
        let Some(special) = special else { return };
        let mut written = sink
            .span_texts()
            .filter(|(_, span)| span.control)
            .map(|(text, _)| text);
        let unknown = written.find(|token| !special.iter().any(|known| known == token));
        problem = problem.take().or_else(|| {
            let message = format!(
                "it writes `{}`, which the tokenizer does not know; take the model's own",
                unknown?
            );
            Some(PlanError::value(KEY, message))
        });
    });
    problem.map_or(Ok(()), Err)
}
