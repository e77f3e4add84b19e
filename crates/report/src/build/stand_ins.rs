//! Numbers that replace ids in the reports of a run that quotes no content.

use std::collections::BTreeMap;

/// Returns a function that replaces ids by numbers in the order of the calls. Another report of the same dataset has the same numbers, and
/// ids cannot be found by trying, as with hashes.
pub fn numbered() -> impl FnMut(&str) -> String {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    move |id| {
        let next = known.len() + 1;
        let number = known.entry(id.to_owned()).or_insert(next);
        format!("id-{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_number() {
        let mut numbered = numbered();
        let ids = ["ann", "ben", "ann"].map(&mut numbered);
        assert_eq!(ids, ["id-1", "id-2", "id-1"]);
    }
}
