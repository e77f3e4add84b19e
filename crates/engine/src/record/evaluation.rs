//! Evaluations for decontamination: an index of their runs of words and
//! of their short questions, and the search for them in a conversation.
//!
//! Each text of a message is compared separately, and so is each text of an
//! evaluation: no run crosses a border between texts. JSON inside a text is compared
//! as written, and if it contains escapes, its decoded strings are compared as well.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use chatmill_diag::limits::DEPTH_CEILING;
use chatmill_diag::{Finding, ShownId, codes, cut};
use chatmill_intake::json::{self, Kind, Value};
use chatmill_link::{IndexFull, Ngrams};
use chatmill_model::{Conversation, MediaSource, Message, MessageKind, Part, Role};

/// The texts of some evaluations.
#[derive(Debug)]
pub struct Evaluations {
    /// The owner of a text in the index is the index of its row in `rows`.
    index: Ngrams,
    length: NonZeroUsize,
    files: Vec<EvaluationFile>,
    /// The rows that contain words: the number of the file, and of the row in it.
    rows: Vec<(usize, u64)>,
}

/// A file of an evaluation, or a member of an archive.
#[derive(Clone, Debug)]
pub(crate) struct EvaluationFile {
    /// Its name in findings and reports.
    pub name: String,
    /// The number of its rows that have words.
    pub rows: u64,
    /// Whether some of its texts are questions.
    pub has_questions: bool,
    /// The unit of rows if the file was read as plain text: `line` or `paragraph`.
    pub plain: Option<&'static str>,
}

impl EvaluationFile {
    /// Returns a remark for the user: the file was read as
    /// plain text, or none of its texts counts as a question.
    pub(crate) fn note(&self) -> Option<String> {
        let plain = self.plain;
        let plain = plain.map(|row| format!("read as plain text without questions, {row}s: {}", self.rows));
        let words = "no field in it is called question, prompt or the like";
        plain.or_else(|| (!self.has_questions).then(|| words.to_owned()))
    }
}

/// A row of an evaluation that occurs in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Met {
    /// The position of the message, or of the message that an alternative would replace.
    position: u32,
    /// Whether the text is in an alternative to the message.
    is_alternative: bool,
    /// The number of the row.
    pub row: u32,
    /// Whether a whole question occurs.
    is_question: bool,
}

impl Met {
    fn place(&self) -> (u32, bool) {
        (self.position, self.is_alternative)
    }
}

impl Evaluations {
    /// Creates an empty index for runs of this many words, with at most `most` words in all.
    pub(crate) fn new(length: NonZeroUsize, most: u32) -> Self {
        Self {
            index: Ngrams::new(length, most),
            length,
            files: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Starts the rows of a file; `plain` is the unit of rows if the file is plain text.
    pub(crate) fn begin(&mut self, name: String, plain: Option<&'static str>) {
        self.files.push(EvaluationFile {
            name,
            rows: 0,
            has_questions: false,
            plain,
        });
    }

    /// Adds a text of a row of the current file. A question shorter than a run counts as a whole.
    pub(crate) fn add(&mut self, text: &str, row: u64, is_question: bool) -> Result<(), IndexFull> {
        let row = (self.files.len().saturating_sub(1), row);
        let is_known = self.rows.last() == Some(&row);
        let owner = u32::try_from(self.rows.len() - usize::from(is_known)).map_err(|_| IndexFull)?;
        let before = self.index.words();
        let mut is_first = true;
        let added = each_text(text, &mut |text| {
            let is_question = std::mem::take(&mut is_first) && is_question;
            let added = if is_question {
                self.index.add_whole(text, owner)
            } else {
                self.index.add(text, owner)
            };
            added.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        if let ControlFlow::Break(full) = added {
            return Err(full);
        }
        if self.index.words() > before {
            if !is_known {
                self.rows.push(row);
            }
            if let Some(file) = self.files.last_mut() {
                file.rows += u64::from(!is_known);
                file.has_questions |= is_question;
            }
        }
        Ok(())
    }

    /// Returns whether a text contains a known run, or is a known question.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.index.find_whole(text).is_some() || self.index.find(text).is_some()
    }

    /// Returns the number of words in a run.
    pub(crate) fn length(&self) -> usize {
        self.length.get()
    }

    /// Returns the number of words in the index.
    pub(crate) fn words(&self) -> usize {
        self.index.words()
    }

    /// Returns the files in the order in which they were read.
    pub(crate) fn files(&self) -> &[EvaluationFile] {
        &self.files
    }

    /// Returns the number of the file of a row.
    pub(crate) fn file_of(&self, row: u32) -> usize {
        cut::at(&self.rows, row as usize).0
    }

    /// Returns whether a conversation shares a run of words with an evaluation, or asks one of its questions.
    pub(crate) fn meet(&self, conversation: &Conversation) -> bool {
        self.each(conversation, &mut |_| ControlFlow::Break(()))
            .is_break()
    }

    /// Returns all rows that occur in a conversation, once per message.
    pub(crate) fn met(&self, conversation: &Conversation) -> BTreeSet<Met> {
        let mut all = BTreeSet::new();
        let _: ControlFlow<()> = self.each(conversation, &mut |met| {
            all.insert(met);
            ControlFlow::Continue(())
        });
        all
    }

    /// Returns a finding for each message with a known row: it names the first row and the number of others.
    pub(crate) fn findings(&self, conversation: &Conversation) -> Vec<Finding> {
        let all: Vec<Met> = self.met(conversation).into_iter().collect();
        let of_message = |one: &Met, other: &Met| one.place() == other.place();
        let groups = all.chunk_by(of_message).filter_map(<[Met]>::split_first);
        let finding = |(met, others): (&Met, &[Met])| {
            let (file, row) = *cut::at(&self.rows, met.row as usize);
            let name = &cut::at(&self.files, file).name;
            let what = if met.is_question {
                "it is the question".to_owned()
            } else {
                format!("it has {} words in a row in common with a text", self.length)
            };
            let which = if met.is_alternative {
                "of another answer: "
            } else {
                ""
            };
            let more = match others.len() {
                0 => String::new(),
                more => format!(", and meets {more} more"),
            };
            let message = format!("{which}{what} of row {row} of {}{more}", ShownId(name));
            let finding = Finding::new(&codes::EVALUATION_OVERLAP, message);
            match conversation.messages.get(met.position as usize) {
                Some(message) => finding.at_message(message.position, message.id.as_deref(), ""),
                None => finding,
            }
        };
        groups.map(finding).collect()
    }

    /// Visits the rows that occur in a conversation, message by message, until `visit` breaks.
    fn each<B>(
        &self,
        conversation: &Conversation,
        visit: &mut impl FnMut(Met) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for message in &conversation.messages {
            self.each_of(message, message.position, false, visit)?;
        }
        for alternative in &conversation.alternatives {
            for message in alternative.messages.iter().flatten() {
                self.each_of(message, alternative.place.start, true, visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn each_of<B>(
        &self,
        message: &Message,
        position: u32,
        is_alternative: bool,
        visit: &mut impl FnMut(Met) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut met = |row, is_question| {
            visit(Met {
                position,
                is_alternative,
                row,
                is_question,
            })
        };
        for text in texts(message) {
            each_text(&text, &mut |text| {
                let mut last = None;
                self.index.each_run(text, &mut |run| {
                    let row = self.index.owner(run);
                    // Consecutive runs mostly belong to the same row, which is reported once.
                    if last.replace(row) == Some(row) {
                        return ControlFlow::Continue(());
                    }
                    met(row, false)
                })
            })?;
        }
        let is_asked = message.role == Role::User && message.kind == MessageKind::Message;
        match is_asked.then(|| self.index.find_whole(&message.text())).flatten() {
            Some(row) => met(row, true),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Returns the texts of a message: its text as one, and each result, argument, thought and quotation.
fn texts(message: &Message) -> impl Iterator<Item = Cow<'_, str>> {
    let others = message.parts.iter().filter_map(|part| match part {
        Part::Reasoning(text) | Part::Notice(text) => Some(text.as_str()),
        Part::ToolCall(call) => Some(call.arguments.source_text()),
        Part::ToolResult(result) => Some(result.content.as_str()),
        Part::Media(media) => match &media.source {
            MediaSource::Text(text) => Some(text.as_str()),
            _ => None,
        },
        Part::Item(item) => Some(item.raw.as_str()),
        Part::Text(_) | Part::CacheMark => None,
    });
    let quoted = message.references.iter();
    let quoted = quoted.filter_map(|reference| reference.preview.as_ref()?.content.as_deref());
    std::iter::once(message.text()).chain(others.chain(quoted).map(Cow::Borrowed))
}

/// Visits a text, and its strings if it is JSON with escapes.
fn each_text<B>(text: &str, visit: &mut dyn FnMut(&str) -> ControlFlow<B>) -> ControlFlow<B> {
    visit(text)?;
    let is_escaped = text.contains('\\') && text.trim_start().starts_with(['{', '[', '"']);
    match is_escaped.then(|| json::scan(text.as_bytes(), DEPTH_CEILING)) {
        Some(Ok(document)) => each_string(document.root(), false, &mut |text, _| visit(text)),
        _ => ControlFlow::Continue(()),
    }
}

/// The values of a role field that mean a person who asks.
const USERS: [&str; 4] = ["user", "human", "prompter", "customer"];

/// Returns whether the texts of a field with this name are questions.
pub(crate) fn is_question_name(name: &str) -> bool {
    let known = "question questions prompt prompts query queries instruction instructions problem input inputs task goal stem turns";
    known.split(' ').any(|known| known.eq_ignore_ascii_case(name))
}

/// Visits the strings of a value, each with whether it is a question. In messages the
/// role decides, elsewhere the name of its field, or of a list or object around it.
pub(crate) fn each_string<B>(
    value: Value<'_>,
    is_question: bool,
    visit: &mut dyn FnMut(&str, bool) -> ControlFlow<B>,
) -> ControlFlow<B> {
    match value.kind() {
        Kind::String => visit(&value.string().unwrap_or_default(), is_question),
        Kind::Array => value
            .items()
            .try_for_each(|item| each_string(item, is_question, visit)),
        Kind::Object => {
            let speaker = ["role", "from", "author", "speaker"]
                .into_iter()
                .find_map(|name| value.get(name)?.string());
            let is_asked = speaker.map_or(is_question, |word| USERS.contains(&word.to_lowercase().as_str()));
            value.fields().try_for_each(|(name, field)| {
                let is_text = matches!(&*name, "content" | "value" | "text" | "parts" | "body");
                each_string(field, is_text && is_asked || is_question_name(&name), visit)
            })
        }
        Kind::Null | Kind::Bool(_) | Kind::Number => ControlFlow::Continue(()),
    }
}

#[cfg(test)]
mod tests {
    use chatmill_model::{Alternative, AlternativeOrigin, Judgement, MessageOrigin, ToolResult};

    use super::*;

    const LINE: &str = "one two three four five six seven eight nine ten eleven twelve thirteen";

    fn evaluations(length: usize, texts: &[(&str, bool)]) -> Evaluations {
        let mut evaluations = Evaluations::new(NonZeroUsize::new(length).unwrap(), 1000);
        evaluations.begin("eval.jsonl".to_owned(), None);
        for (row, (text, is_question)) in (1..).zip(texts) {
            evaluations.add(text, row, *is_question).unwrap();
        }
        evaluations
    }

    fn message(role: Role, parts: Vec<Part>) -> Message {
        Message {
            parts,
            ..Message::new(role, 0, MessageOrigin::default())
        }
    }

    fn of(message: Message) -> Conversation {
        Conversation {
            messages: vec![message],
            ..Conversation::default()
        }
    }

    fn says(role: Role, text: &str) -> Conversation {
        of(message(role, vec![Part::Text(text.to_owned())]))
    }

    #[test]
    fn thirteen_words_in_a_row_meet_and_twelve_or_another_order_do_not() {
        let evaluations = evaluations(13, &[(LINE, false)]);
        let twelve = LINE.strip_suffix(" thirteen").unwrap();
        for (text, meets) in [
            (LINE.to_owned(), true),
            (
                format!("So: «{}»!", LINE.to_uppercase().replace(' ', "\n- ")),
                true,
            ),
            (twelve.to_owned(), false),
            (format!("{twelve} and thirteen"), false),
            (LINE.replace("six seven", "seven six"), false),
        ] {
            assert_eq!(evaluations.meet(&says(Role::Assistant, &text)), meets, "{text}");
        }
    }

    #[test]
    fn results_arguments_thoughts_and_other_answers_count_as_messages_do() {
        let evaluations = evaluations(13, &[(LINE, false)]);
        let result = ToolResult {
            content: format!("{{\"page\": \"a\\n{}\"}}", LINE.replace(' ', "\\n")),
            ..ToolResult::default()
        };
        let other = Alternative {
            place: 0..1,
            messages: Some(says(Role::Assistant, LINE).messages),
            origin: AlternativeOrigin::Rejected,
            judgement: Judgement::default(),
        };
        let beside = Conversation {
            alternatives: vec![other],
            ..says(Role::Assistant, "another one")
        };
        for conversation in [
            of(message(Role::Tool, vec![Part::ToolResult(result)])),
            of(message(Role::Assistant, vec![Part::Reasoning(LINE.to_owned())])),
            beside,
        ] {
            assert!(evaluations.meet(&conversation), "{conversation:?}");
        }
    }

    #[test]
    fn no_run_crosses_the_border_of_a_message_or_of_a_text() {
        let (first, rest) = LINE.split_at(LINE.find(" seven").unwrap());
        let mut two = says(Role::User, first);
        two.messages.extend(says(Role::Assistant, rest).messages);
        assert!(!evaluations(13, &[(LINE, false)]).meet(&two));
        assert!(!evaluations(13, &[(first, false), (rest, false)]).meet(&says(Role::User, LINE)));
    }

    #[test]
    fn a_short_question_meets_a_user_who_asks_it_and_a_short_answer_nobody() {
        let evaluations = evaluations(
            13,
            &[("Is this a knot?", true), ("Yes, it is.", false), ("?!", true)],
        );
        for (role, text, meets) in [
            (Role::User, "is THIS a knot", true),
            (Role::User, "Is this a knot, please?", false),
            (Role::Assistant, "Is this a knot?", false),
            (Role::User, "Yes, it is.", false),
            (Role::User, "…", false),
        ] {
            assert_eq!(evaluations.meet(&says(role, text)), meets, "{text}");
        }
    }

    #[test]
    fn a_finding_of_a_message_names_file_and_row_and_how_many_more_and_quotes_nothing() {
        let evaluations = evaluations(
            3,
            &[
                ("zero", false),
                ("one two three four", false),
                ("three four five", false),
            ],
        );
        for (text, more) in [
            ("one two three four five", ", and meets 1 more"),
            ("one two three", ""),
        ] {
            let findings = evaluations.findings(&says(Role::User, text));
            let messages = findings.iter().map(|finding| finding.message.as_str());
            let common = "it has 3 words in a row in common with a text of row 2 of `eval.jsonl`";
            assert_eq!(messages.collect::<Vec<_>>(), [format!("{common}{more}")]);
        }
    }

    #[test]
    fn drawn_texts_meet_what_a_plain_counter_finds() {
        const RUN: usize = 4;
        let mut state = 1_u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        let mut text = |most: u64| {
            let words = (0..draw(most)).map(|_| ["sea", "tide", "quay"][draw(3) as usize]);
            words.collect::<Vec<_>>()
        };
        let mut met = 0;
        for _ in 0..400 {
            let rows: Vec<Vec<&str>> = (0..3).map(|_| text(9)).collect();
            let said: Vec<Vec<&str>> = (0..2).map(|_| text(9)).collect();
            let joined: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
            let added: Vec<(&str, bool)> = joined.iter().map(|row| (row.as_str(), true)).collect();
            let mut conversation = says(Role::Assistant, &said[0].join(", "));
            conversation
                .messages
                .extend(says(Role::User, &said[1].join("\n")).messages);
            let runs = said.iter().flat_map(|said| said.windows(RUN));
            let shares = runs
                .into_iter()
                .any(|run| rows.iter().any(|row| row.windows(RUN).any(|known| known == run)));
            let asks = !said[1].is_empty() && said[1].len() < RUN && rows.contains(&said[1]);
            assert_eq!(
                evaluations(RUN, &added).meet(&conversation),
                shares || asks,
                "{rows:?} {said:?}"
            );
            met += usize::from(shares || asks);
        }
        assert!((50..350).contains(&met), "{met}");
    }

    #[test]
    fn questions_are_known_by_the_names_of_fields_and_by_who_speaks() {
        for (row, questions) in [
            (r#"{"question":"q","answer":"a","id":7}"#, "q"),
            (r#"{"Prompt":"q","choices":["a","b"]}"#, "q"),
            (r#"{"turns":["q","r"],"category":"c"}"#, "q r"),
            (r#"{"question":{"stem":"q","choices":{"text":["a","b"]}}}"#, "q"),
            (
                r#"{"input":[{"role":"system","content":"s"},{"role":"user","content":"q"}],"ideal":"a"}"#,
                "q",
            ),
            (
                r#"{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]}"#,
                "q",
            ),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}]}"#,
                "q",
            ),
            (r#"["a",{"text":"b"}]"#, ""),
        ] {
            let document = json::scan(row.as_bytes(), 16).unwrap();
            let mut found = Vec::new();
            let _: ControlFlow<()> = each_string(document.root(), false, &mut |text, is_question| {
                found.extend(is_question.then(|| text.to_owned()));
                ControlFlow::Continue(())
            });
            assert_eq!(found.join(" "), questions, "{row}");
        }
    }
}
