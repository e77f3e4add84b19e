//! The words that may replace an element in a text, and the words that may precede it.

use chatmill_dialect::LossCode;
use chatmill_model::{ArgumentForm, MediaKind, MediaSource, Part, Role, ToolCall, ToolResult};

use super::declared::{documents, placeholders};
use super::elements::{Element, Kind};
use super::sameness::{compact, is_wrapped};
use super::search::Search;

impl Search<'_, '_> {
    /// For a text that begins with thoughts in `<think>` tags, which readers turn into reasoning: the number of
    /// elements that were read back for them, and the end of the remaining text in the next one (0 if nothing remains).
    pub(super) fn thoughts(&self, text: &str, position: u32, read: usize) -> Option<(usize, usize)> {
        let mut rest = text;
        let mut count = 0;
        while let Some((thought, after)) = rest
            .trim_start()
            .strip_prefix("<think>")
            .and_then(|rest| rest.split_once("</think>"))
        {
            let thought = thought.strip_prefix('\n').unwrap_or(thought);
            let thought = thought.strip_suffix('\n').unwrap_or(thought);
            let Kind::Reasoning(known) = self.read.get(read + count)?.kind else {
                return None;
            };
            self.declared
                .ends(thought, position, known)
                .contains(&known.len())
                .then_some(())?;
            let after = after.strip_prefix('\n').unwrap_or(after);
            rest = after.strip_prefix('\n').unwrap_or(after);
            count += 1;
        }
        if count == 0 || rest.is_empty() {
            return (count > 0).then_some((count, 0));
        }
        let Kind::Text(known) = self.read.get(read + count)?.kind else {
            return None;
        };
        self.declared
            .ends(rest, position, known)
            .first()
            .map(|end| (count, *end))
    }

    /// The texts that a declared loss may have put in front of an element: the length in bytes, the role that it names,
    /// and whether it is a name.
    pub(super) fn prefixes(&self, element: &Element<'_>, text: &str) -> Vec<(usize, Option<Role>, bool)> {
        let position = element.position();
        let mut all = vec![(0, None, false)];
        if self.declared.whole(LossCode::TurnMerged) > 0 {
            let words = [
                ("User: ", Role::User),
                ("Assistant: ", Role::Assistant),
                ("Tool: ", Role::Tool),
            ];
            let found = words.iter().filter(|(word, _)| text.starts_with(word));
            all.extend(found.map(|(word, role)| (word.len(), Some(*role), false)));
        }
        for (length, role, _) in all.clone() {
            let rest = text.get(length..).unwrap_or_default();
            if self.declared.at(LossCode::SystemInlined, position) > 0 && rest.starts_with("[system] ") {
                all.push((length + "[system] ".len(), role, false));
            }
            if self.declared.at(LossCode::NameInlined, position) > 0 {
                let names = self.names(element);
                let mut prefixes = names.iter().map(|name| format!("{name}: "));
                let known = prefixes
                    .find(|prefix| rest.starts_with(prefix))
                    .map(|prefix| prefix.len());
                let any = rest.find(": ").map(|at| at + 2).filter(|_| names.is_empty());
                all.extend(known.or(any).map(|name| (length + name, role, true)));
            }
        }
        all.reverse();
        all
    }

    /// The names under which the sender of an element, or of the call that it answers, is known.
    pub(super) fn names(&self, element: &Element<'_>) -> Vec<String> {
        let participants = &self.case.view.conversation().participants;
        let caller = element
            .call
            .and_then(|place| self.case.view.message(place.position));
        let mut names = Vec::new();
        for message in [caller, Some(element.message)].into_iter().flatten() {
            let sender = message.sender.map(|sender| &participants[sender]);
            names.extend(sender.map(|sender| sender.display_name().to_owned()));
            let namesake = sender.and_then(|sender| Some((sender.own_name()?, &sender.id)));
            names.extend(namesake.map(|(name, id)| format!("{name} ({id})")));
            names.extend(message.sender_name.clone());
        }
        names.retain(|name| !name.is_empty());
        names
    }

    /// The possible ends of an element that begins at the start of a text, and whether the text differs from that of the element.
    pub(super) fn spelled(
        &self,
        element: &Element<'_>,
        read: &Element<'_>,
        text: &str,
    ) -> Vec<(usize, bool)> {
        let position = element.position();
        let has = |code| self.declared.at(code, position) > 0;
        let ends = |found: &str| self.declared.ends(found, position, text);
        let own = |ends: Vec<usize>| ends.into_iter().map(|end| (end, false)).collect();
        let worded = |words: Vec<String>| {
            let known = words.into_iter().filter(|word| text.starts_with(word.as_str()));
            known.map(|word| (word.len(), true)).collect()
        };
        match (&element.kind, &read.kind) {
            (Kind::Text(found), Kind::Result(_)) if has(LossCode::PartFlattened) => own(ends(found)),
            (Kind::Text(found), Kind::Text(_)) | (Kind::Reasoning(found), Kind::Reasoning(_)) => {
                own(ends(found))
            }
            (Kind::Reasoning(found), Kind::Text(_)) if self.is_merged(position) => {
                let Some(rest) = text.strip_prefix("<think>\n") else {
                    return Vec::new();
                };
                let ends = self.declared.ends(found, position, rest).into_iter();
                let closed = ends.filter_map(|end| {
                    let rest = rest.get(end..)?.strip_prefix("\n</think>\n")?;
                    Some((text.len() - rest.len(), true))
                });
                closed.collect()
            }
            (Kind::Result(result), Kind::Result(other)) if self.is_answer(element, result, read, other) => {
                let is_filled = result.content.trim().is_empty() && has(LossCode::EmptyFilled);
                if is_filled && !text.is_empty() {
                    return vec![(text.len(), false)];
                }
                let mut all: Vec<(usize, bool)> = own(ends(&result.content));
                if has(LossCode::ResultWrapped) {
                    let with_media = with_media(element, result);
                    let shown = |end: &str| is_wrapped(end, &result.content) || is_wrapped(end, &with_media);
                    if shown(text) {
                        all.push((text.len(), false));
                    }
                }
                all
            }
            (Kind::Result(result), Kind::Text(_)) => {
                let is_text = has(LossCode::RoleMapped) || has(LossCode::OrphanResultInlined);
                let mut all = Vec::new();
                if let (true, Some(rest)) = (is_text, text.strip_prefix("[result ")) {
                    let at = text.len() - rest.len();
                    for words in [result.content.clone(), with_media(element, result)] {
                        for end in self.declared.ends(&words, position, rest) {
                            if rest.get(end..).is_some_and(|rest| rest.starts_with(']')) {
                                all.push((at + end + 1, true));
                            }
                        }
                    }
                }
                if self.declared.whole(LossCode::TurnMerged) > 0 && has(LossCode::ToolIdDropped) {
                    all.extend(ends(&result.content).into_iter().map(|end| (end, true)));
                }
                all
            }
            (Kind::Call(call), Kind::Text(_)) if has(LossCode::RoleMapped) => worded(call_words(call)),
            (Kind::Media(media), Kind::Text(_) | Kind::Result(_))
                if has(LossCode::PartFlattened) && documents(media).is_some() =>
            {
                let words = documents(media).unwrap_or_default();
                own(words.iter().flat_map(|words| ends(words)).collect())
            }
            (Kind::Media(media), Kind::Text(_) | Kind::Result(_)) if has(LossCode::MediaPlaceholder) => {
                let mut words = placeholders(media).to_vec();
                let count = self.declared.at(LossCode::MediaPlaceholder, position);
                words.push(format!("[{count} media items]"));
                words.extend((count == 1).then(|| "[Media]".to_owned()));
                if let (MediaKind::Link, MediaSource::Url(url)) = (media.kind, &media.source) {
                    words.push(url.clone());
                }
                let flat = |word: String| word.split_whitespace().collect::<Vec<_>>().join(" ");
                let flat: Vec<String> = words.iter().cloned().map(flat).collect();
                words.extend(flat);
                worded(words)
            }
            (Kind::Media(media), Kind::Text(_)) => match &media.source {
                // A transcript shows media as their addresses.
                MediaSource::Url(url) if text == url => vec![(text.len(), false)],
                _ => Vec::new(),
            },
            (Kind::Quote(_), Kind::Text(_)) if self.ends_in_a_name(text) => vec![(text.len(), true)],
            (Kind::Quote(words), Kind::Text(_)) => {
                let mut all = quote_ends(words, text);
                if has(LossCode::ReferenceShortened) {
                    all.extend(short_ends(words, text));
                }
                all
            }
            _ => Vec::new(),
        }
    }

    /// Whether a reader took the last line of a quoted sender's name for the whole name, so that a text ends with the
    /// lines before it.
    fn ends_in_a_name(&self, text: &str) -> bool {
        let text = text.trim_end();
        let is_end = |name: &Option<String>| {
            let name = name.as_deref().unwrap_or_default();
            let mut breaks = name.match_indices(['\n', '\r']);
            breaks.any(|(at, _)| {
                let lines = name.get(..at).unwrap_or_default().trim_end();
                !lines.is_empty() && text.ends_with(lines)
            })
        };
        let mut participants = self.case.participants().iter();
        let mut messages = self.case.messages().iter();
        self.has_replies()
            && (participants.any(|person| is_end(&person.name))
                || messages.any(|message| is_end(&message.sender_name)))
    }

    /// Whether the message was merged into another turn.
    pub(super) fn is_merged(&self, position: u32) -> bool {
        self.declared.covers(LossCode::TurnMerged, position)
    }
}

/// The words for a call that is written as text.
fn call_words(call: &ToolCall) -> Vec<String> {
    let name = call
        .name
        .as_deref()
        .filter(|name| !name.is_empty())
        .unwrap_or("unnamed");
    let source = call.arguments.source_text();
    let mut all = vec![
        format!("[tool {name} {source}]"),
        format!("[tool {name} {}]", compact(source)),
    ];
    if source.is_empty() {
        all.push(format!("[tool {name}]"));
    }
    if call.form == ArgumentForm::Embedded && source.is_empty() {
        all.push(format!("[tool {name} {{}}]"));
    }
    all
}

/// The possible ends of a quote that only names the speaker, or has only the beginning of the text.
fn short_ends(words: &str, text: &str) -> Vec<(usize, bool)> {
    let is_mark = text.starts_with("[in reply to ");
    let brackets = text.match_indices(']').filter(|_| is_mark).map(|(at, _)| at + 1);
    let begins = |at: usize| {
        let after = text.get(..at).unwrap_or_default();
        let words = words.trim();
        words
            .char_indices()
            .any(|(end, sign)| after.ends_with(words.get(..end + sign.len_utf8()).unwrap_or_default()))
    };
    let excerpts = text.match_indices("…\"").filter(|(at, _)| begins(*at));
    let ends = brackets.chain(excerpts.map(|(at, close)| at + close.len()));
    ends.map(|end| (end, true)).collect()
}

/// The possible ends of a quote: first after the unchanged quoted words, then at any mark that closes a quote, from the
/// last to the first, because white space, brackets and marks inside a quote are normalised.
fn quote_ends(words: &str, text: &str) -> Vec<(usize, bool)> {
    let words = words.trim();
    let close = format!("{words}\"");
    // A quoted mark may be directly before the one that closes the quote.
    let starts = text.char_indices().map(|(at, _)| at);
    let found = starts.filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with(&close)));
    let ends = found.map(|at| at + close.len());
    let is_plain =
        !words.contains('[') && !words.chars().any(char::is_control) && !words.contains('\u{feff}');
    let others = text
        .rmatch_indices('"')
        .filter(|_| !is_plain)
        .map(|(at, _)| at + 1);
    ends.chain(others).map(|end| (end, true)).collect()
}

/// The text of a tool's result, with a line for each of its media.
fn with_media(element: &Element<'_>, result: &ToolResult) -> String {
    let is_it = |part: &Part| matches!(part, Part::ToolResult(other) if std::ptr::eq(other, result));
    let place = element.message.parts.iter().position(is_it).unwrap_or_default();
    let media = element.message.media_of(place);
    let lines = media.map(|media| {
        documents(media)
            .unwrap_or_else(|| placeholders(media).to_vec())
            .swap_remove(0)
    });
    let content = std::iter::once(result.content.clone()).filter(|content| !content.is_empty());
    content.chain(lines).collect::<Vec<_>>().join("\n")
}
