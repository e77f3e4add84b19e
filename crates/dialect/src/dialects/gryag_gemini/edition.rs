//! How a `[meta]` line and media are written, as data: as in the document, and as in the code of the same day.

use chatmill_model::Component;

/// A key of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The chat.
    Chat,
    /// The thread in it.
    Thread,
    /// The message.
    Message,
    /// The author.
    User,
    /// The display name.
    Name,
    /// The second name.
    Username,
    /// The message that is answered.
    ReplyMessage,
    /// The author of the answered message.
    ReplyUser,
    /// The second name of that author.
    ReplyUsername,
    /// The display name of that author.
    ReplyName,
    /// The beginning of the answered message.
    Excerpt,
}

impl Key {
    /// Returns the key as it is written, with the space before it and the `=` after it.
    pub(super) const fn spelling(self) -> &'static str {
        match self {
            Self::Chat => " chat_id=",
            Self::Thread => " thread_id=",
            Self::Message => " message_id=",
            Self::User => " user_id=",
            Self::Name => " name=",
            Self::Username => " username=",
            Self::ReplyMessage => " reply_to_message_id=",
            Self::ReplyUser => " reply_to_user_id=",
            Self::ReplyUsername => " reply_to_username=",
            Self::ReplyName => " reply_to_name=",
            Self::Excerpt => " reply_excerpt=",
        }
    }

    /// Returns the name of the key.
    pub(super) fn name(self) -> &'static str {
        self.spelling().trim_start().trim_end_matches('=')
    }

    /// Whether its value is an id.
    pub(super) const fn is_id(self) -> bool {
        matches!(
            self,
            Self::Chat | Self::Thread | Self::Message | Self::User | Self::ReplyMessage | Self::ReplyUser
        )
    }

    /// Whether zero means that the value is missing.
    pub(super) const fn may_be_zero(self) -> bool {
        matches!(self, Self::Thread | Self::ReplyMessage | Self::ReplyUser)
    }

    /// Returns the component that the tokens of key and value count for.
    pub(super) const fn component(self) -> Component {
        match self {
            Self::Chat | Self::Thread | Self::Message | Self::User => Component::Meta,
            Self::Name | Self::Username => Component::Names,
            Self::ReplyMessage | Self::ReplyUser | Self::ReplyUsername | Self::ReplyName | Self::Excerpt => {
                Component::Replies
            }
        }
    }
}

/// How a prompt is written.
#[derive(Debug)]
pub(super) struct Edition {
    /// The keys in order.
    pub(super) order: &'static [Key],
    /// Maximum number of code points in a name.
    longest_name: Option<usize>,
    /// Maximum number of code points in any other string.
    longest_text: Option<usize>,
    /// Whether second names begin with the platform's `@`.
    pub(super) at_signs: bool,
    /// Whether ids that are zero are left out.
    pub(super) drops_zeros: bool,
    /// Whether ids that are not numbers are quoted.
    quotes_words: bool,
    /// The JSON before and after the address of a media item.
    pub(super) linked_medium: [&'static str; 2],
}

impl Edition {
    /// Whether an id is written as a string: if it could be read as the next key, or, by edition, if it is not a number.
    pub(super) fn is_quoted(&self, id: &str) -> bool {
        let digits = id.strip_prefix('-').unwrap_or(id);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_unclear =
            id.contains(|character: char| character.is_whitespace() || matches!(character, '"' | '[' | ']'));
        is_unclear || self.quotes_words && !is_number
    }

    /// Returns the maximum number of code points in a value; `None`: values are not cut.
    pub(super) const fn longest(&self, key: Key) -> Option<usize> {
        match key {
            Key::Name | Key::Username | Key::ReplyUsername | Key::ReplyName => self.longest_name,
            _ => self.longest_text,
        }
    }
}

/// The document of 2025-10-17.
pub(super) static DOCUMENT: Edition = Edition {
    order: &[
        Key::Chat,
        Key::Thread,
        Key::Message,
        Key::User,
        Key::Name,
        Key::Username,
        Key::ReplyMessage,
        Key::ReplyUser,
        Key::ReplyName,
        Key::Excerpt,
    ],
    longest_name: None,
    longest_text: None,
    at_signs: false,
    drops_zeros: false,
    quotes_words: false,
    linked_medium: ["{\"file_uri\":", "}"],
};

/// The code of the same day.
pub(super) static CODE: Edition = Edition {
    order: &[
        Key::Chat,
        Key::Thread,
        Key::Message,
        Key::User,
        Key::Username,
        Key::Name,
        Key::ReplyMessage,
        Key::ReplyUser,
        Key::ReplyUsername,
        Key::ReplyName,
        Key::Excerpt,
    ],
    longest_name: Some(60),
    longest_text: Some(80),
    at_signs: true,
    drops_zeros: true,
    quotes_words: true,
    linked_medium: ["{\"file_data\":{\"file_uri\":", "}}"],
};
