//! The participants of a conversation.

use crate::extra::Extra;
use strum::{EnumString, IntoStaticStr};

/// Person or machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ParticipantKind {
    /// A person.
    Human,
    /// A bot or model.
    Agent,
    /// The source does not state it.
    #[default]
    Unknown,
}

impl ParticipantKind {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A member of the roster, or a speaker who is not listed there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Participant {
    /// The source's id, unique in the conversation.
    pub id: String,
    /// Whether the source has no id for this participant, so that `id` is made from a name or a role.
    pub is_id_made: bool,
    /// Display name.
    pub name: Option<String>,
    /// A second name, for example a user name without `@`.
    pub alias: Option<String>,
    /// The role as written: `user`, `assistant`, or a job title in old archives.
    pub role: Option<String>,
    /// Person or machine.
    pub kind: ParticipantKind,
    /// Job or position.
    pub custom_role: Option<String>,
    /// Department.
    pub department: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Whether the source's roster lists this participant.
    pub listed: bool,
    /// Fields that the model has no place for.
    pub extra: Extra,
}

impl Participant {
    /// The name, else the second name; `None` if both are missing or empty.
    pub fn own_name(&self) -> Option<&str> {
        let names = [self.name.as_deref(), self.alias.as_deref()];
        names.into_iter().flatten().find(|name| !name.is_empty())
    }

    /// The name to show: the name, else the second name, else the id.
    pub fn display_name(&self) -> &str {
        self.name
            .as_deref()
            .or(self.alias.as_deref())
            .filter(|name| !name.is_empty())
            .unwrap_or(&self.id)
    }
}
