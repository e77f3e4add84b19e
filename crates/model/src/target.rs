//! The name of a dialect together with one of its profiles.

/// The first profile of every dialect: the format as documented.
pub const DEFAULT_PROFILE: &str = "document";

/// The name of a target: `DIALECT`, or `DIALECT@PROFILE` if the profile is not the default.
pub fn target_name(dialect: &str, profile: &str) -> String {
    if profile == DEFAULT_PROFILE {
        dialect.to_owned()
    } else {
        format!("{dialect}@{profile}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_profiles_than_the_default_are_named() {
        assert_eq!(target_name("chatml", "document"), "chatml");
        assert_eq!(target_name("tzurot", "v2-final"), "tzurot@v2-final");
    }
}
