//! Words that are not names: names of roles, words of formats, and common words that are also people's names.
//!
//! A name of the roster that is one of these is replaced if a field contains nothing else, but never searched for in texts; names of roles
//! are kept everywhere.

use std::sync::LazyLock;

/// Names of roles, sorted.
static ROLES: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("roles.txt").lines().collect());

/// Words that are too common to be searched for, sorted.
static COMMON: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("common_words.txt").lines().collect());

/// Whether a name, in lower case, is the name of a role.
pub(crate) fn is_role(name: &str) -> bool {
    ROLES.binary_search(&name).is_ok()
}

/// Whether a name, in lower case, is too common to be searched for.
pub(crate) fn is_common(name: &str) -> bool {
    is_role(name) || COMMON.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_and_roles_are_sorted_and_unique() {
        assert!(ROLES.is_sorted_by(|left, right| left < right));
        let wrong: Vec<_> = COMMON.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
