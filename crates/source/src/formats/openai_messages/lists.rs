//! The places of a record where messages stand, and how an index tells them apart.
//!
//! The upper four bits of a message's index say which place it is from, so that one number leads back to it.

/// Where messages stand. A place that ends with `[]` is a list.
const PLACES: [&str; 11] = [
    "$.messages[]",
    "$.prompt[]",
    "$.completion[]",
    "$.chosen[]",
    "$.chosen_messages[]",
    "$.input.messages[]",
    "$.preferred_output[]",
    "$.response",
    "$.response.choices[0].message",
    "$.conversation[]",
    "$.data[]",
];

/// Messages that fit in one place.
const INDEX_BITS: u32 = 28;

/// The index of the first message of a place.
pub(crate) fn first(place: &str) -> u32 {
    (0..)
        .zip(PLACES)
        .find(|(_, known)| known.trim_end_matches("[]") == place)
        .map_or(0, |(number, _)| number << INDEX_BITS)
}

/// The path of the message with this index.
pub(crate) fn path(index: u32) -> String {
    let place = PLACES
        .get((index >> INDEX_BITS) as usize)
        .unwrap_or(&"$.messages[]");
    match place.strip_suffix("[]") {
        Some(list) => format!("{list}[{}]", index & ((1 << INDEX_BITS) - 1)),
        None => (*place).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{PLACES, first, path};

    #[test]
    fn an_index_leads_back_to_its_place() {
        assert_eq!(path(3), "$.messages[3]");
        assert_eq!(path(first("$.chosen") + 7), "$.chosen[7]");
        assert_eq!(path(first("$.response.choices[0].message")), PLACES[8]);
        assert_eq!(path(u32::MAX), "$.messages[268435455]");
    }
}
