//! Texts that the app writes, in the languages of phones: marks of media, of edits and deletions, and notices after a name.

use std::sync::LazyLock;

use chatmill_model::MediaKind;

use crate::layout::text::kind_of_name;

/// Marks of writing direction, which phones put in front of lines, names and notices.
pub(super) const MARKS: [char; 7] = [
    '\u{feff}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}', '\u{2068}', '\u{2069}',
];

/// Declares lists of words by their files: a line for each, in quotation marks, because spaces at the ends matter.
macro_rules! words {
    ($($(#[$about:meta])+ $name:ident = $file:literal;)+) => {
        $($(#[$about])+
        pub(super) static $name: LazyLock<Vec<&str>> =
            LazyLock::new(|| include_str!(concat!("words/", $file, ".txt")).lines().map(|line| line.trim_matches('"')).collect());)+
    };
}

words! {
    /// Words for the first half of the day: before the time in East Asia, in Tamil and in Turkish, after it elsewhere.
    FIRST_HALF = "half_first";
    /// Words for the second half.
    SECOND_HALF = "half_second";
    /// Texts in place of a file that was not exported, of an unknown kind,
    OMITTED_FILE = "omitted_file";
    /// of a picture,
    OMITTED_IMAGE = "omitted_image";
    /// of a film,
    OMITTED_VIDEO = "omitted_video";
    /// of a sound.
    OMITTED_AUDIO = "omitted_audio";
    /// Texts before a file's name in brackets.
    ATTACHED_BEFORE = "attached_before";
    /// Texts after a file's name.
    ATTACHED_BEHIND = "attached_behind";
    /// Texts after a message that was edited.
    EDITED = "edited";
    /// Texts in place of a message that was deleted.
    DELETED = "deleted";
    /// Words of the notice that a chat is encrypted, with which most exports begin.
    ENCRYPTED = "encrypted";
    /// Words of notices that follow the name of a person or of the group, after a mark of direction.
    NOTICES = "notices";
    /// Texts of events after a name: verbs, each of which is followed by an object.
    EVENTS = "events";
}

/// Beginnings that the words for media share, in the languages of phones.
const MEDIA: [&str; 16] = [
    "medi",
    "médi",
    "mídia",
    "multim",
    "медиа",
    "медіа",
    "мултимед",
    "媒",
    "メディア",
    "미디어",
    "وسائط",
    "מדיה",
    "मीडिया",
    "สื่อ",
    "πολυμέσ",
    "phương tiện",
];

/// Whether a text is about media and in angle brackets, as Android writes it for files that were not exported.
fn is_about_media(text: &str) -> bool {
    let inside = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    inside.is_some_and(|words| {
        let plain = words.to_lowercase();
        let is_word = |sign: char| !sign.is_ascii() || sign.is_ascii_alphabetic() || sign == ' ';
        words.chars().all(is_word)
            && words.chars().count() <= 48
            && (words.contains(' ') || !words.is_ascii())
            && MEDIA.iter().any(|media| plain.contains(media))
    })
}

/// The kind of file that a text replaces, because the file was not exported.
fn omitted(text: &str) -> Option<MediaKind> {
    if is_about_media(text) {
        return Some(MediaKind::File);
    }
    [
        (&OMITTED_FILE, MediaKind::File),
        (&OMITTED_IMAGE, MediaKind::Image),
        (&OMITTED_VIDEO, MediaKind::Video),
        (&OMITTED_AUDIO, MediaKind::Audio),
    ]
    .into_iter()
    .find_map(|(words, kind)| words.contains(&text).then_some(kind))
}

/// Whether the text after a name describes an event.
pub(super) fn is_event(after: &str) -> bool {
    EVENTS.iter().any(|verb| after.starts_with(*verb))
}

/// Whether a quotation begins in a text and does not end in it. No name does that.
pub(super) fn opens_quotation(text: &str) -> bool {
    let is_quote = |sign: &char| "\u{201e}\u{201c}\u{201d}\u{ab}\u{bb}\u{300c}\u{300d}\"".contains(*sign);
    text.chars().filter(is_quote).count() % 2 == 1
}

/// The meaning of a text that the app wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A file: its kind, and its name if it was exported.
    Media(MediaKind, Option<String>),
    /// The message was deleted.
    Deleted,
    /// An event.
    Notice,
}

/// The meaning of a text, if the app wrote it. `is_marked`: a direction mark precedes it, as before every
/// text that iPhones write themselves.
pub(super) fn mark(text: &str, is_marked: bool) -> Option<Mark> {
    let text = text.trim();
    if let Some(kind) = omitted(text).filter(|_| is_marked || text.starts_with('<')) {
        return Some(Mark::Media(kind, None));
    }
    let named = ATTACHED_BEFORE
        .iter()
        .find_map(|before| text.strip_prefix(*before)?.strip_suffix('>'))
        .or_else(|| {
            ATTACHED_BEHIND
                .iter()
                .find_map(|behind| text.strip_suffix(*behind))
        });
    if let Some(name) = named.filter(|name| !name.contains('\n') && name.contains('.')) {
        return Some(Mark::Media(kind_of_name(name), Some(name.to_owned())));
    }
    if DELETED.contains(&text.trim_end_matches('.')) {
        return Some(Mark::Deleted);
    }
    let mut notices = NOTICES.iter().chain(ENCRYPTED.iter());
    (is_marked && notices.any(|words| text.contains(*words))).then_some(Mark::Notice)
}

/// Whether a text is the notice that a chat is encrypted.
pub(super) fn is_about_encryption(text: &str) -> bool {
    ENCRYPTED.iter().any(|words| text.contains(*words))
}

/// Removes the mark of an edit from the end of a text; returns whether there was one.
pub(super) fn take_edited(text: &mut String) -> bool {
    let trimmed = text.trim_end();
    let own = EDITED.iter().find_map(|mark| trimmed.strip_suffix(*mark));
    let Some(own) = own else { return false };
    *text = own.trim_end_matches(MARKS).trim_end().to_owned();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_of_the_app_differ_from_messages() {
        assert_eq!(
            mark("<Media omitted>", false),
            Some(Mark::Media(MediaKind::File, None))
        );
        assert_eq!(
            mark("image omitted", true),
            Some(Mark::Media(MediaKind::Image, None))
        );
        assert_eq!(mark("image omitted", false), None);
        for text in [
            "<Media tidak disertakan>",
            "<省略多媒体文件>",
            "<تم استبعاد الوسائط>",
            "<Médias omis>",
            "<Ficheiro não revelado>",
            "<Παράλειψη μέσων>",
        ] {
            assert_eq!(
                mark(text, false),
                Some(Mark::Media(MediaKind::File, None)),
                "{text}"
            );
        }
        for text in [
            "<media>",
            "<media src=1>",
            "<immediate>no</immediate>",
            "media omitted",
            "<see you>",
        ] {
            assert_eq!(mark(text, false), None, "{text}");
        }
        let named = Some("IMG-1.jpg".to_owned());
        assert_eq!(
            mark("IMG-1.jpg (file attached)", false),
            Some(Mark::Media(MediaKind::Image, named.clone()))
        );
        assert_eq!(
            mark("<attached: IMG-1.jpg>", true),
            Some(Mark::Media(MediaKind::Image, named))
        );
        assert_eq!(mark("This message was deleted.", false), Some(Mark::Deleted));
        assert_eq!(mark("Is this end-to-end encrypted?", false), None);
        assert_eq!(
            mark("Messages are end-to-end encrypted.", true),
            Some(Mark::Notice)
        );
    }

    #[test]
    fn the_mark_of_an_edit_is_taken_off() {
        let mut text = "At the well \u{200e}<This message was edited>".to_owned();
        assert!(take_edited(&mut text));
        assert_eq!(text, "At the well");
        assert!(!take_edited(&mut text));
    }
}
