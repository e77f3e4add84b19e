//! How a `[meta]` line and media look, as data: the document's way, and that of the code of its day.

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
    /// Who wrote it.
    User,
    /// The display name.
    Name,
    /// The second name.
    Username,
    /// The message that is answered.
    ReplyMessage,
    /// Who wrote that.
    ReplyUser,
    /// The second name of who wrote that.
    ReplyUsername,
    /// The display name of who wrote that.
    ReplyName,
    /// The beginning of what is answered.
    Excerpt,
}

impl Key {
    /// The key as it is written, with the space in front and the sign after.
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

    /// The key alone.
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

    /// Whether zero stands for a missing value.
    pub(super) const fn may_be_zero(self) -> bool {
        matches!(self, Self::Thread | Self::ReplyMessage | Self::ReplyUser)
    }

    /// The component that its tokens count for.
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

/// How a prompt looks.
#[derive(Debug)]
pub(super) struct Edition {
    /// The keys in order.
    pub(super) order: &'static [Key],
    /// Code points that a name may have.
    longest_name: Option<usize>,
    /// Code points that any other string may have.
    longest_text: Option<usize>,
    /// Whether second names have the platform's sign in front.
    pub(super) at_signs: bool,
    /// Whether ids of nothing are left out.
    pub(super) drops_zeros: bool,
    /// Whether ids that are not numbers are quoted.
    quotes_words: bool,
    /// What stands around the address of a media item.
    pub(super) linked_medium: [&'static str; 2],
}

impl Edition {
    /// Whether an id is written as a string: where it reads as the next key, or is not a number.
    pub(super) fn is_quoted(&self, id: &str) -> bool {
        let digits = id.strip_prefix('-').unwrap_or(id);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_unclear =
            id.contains(|character: char| character.is_whitespace() || matches!(character, '"' | '[' | ']'));
        is_unclear || self.quotes_words && !is_number
    }

    /// Code points that a value may have.
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

/// The code of the document's own day.
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
