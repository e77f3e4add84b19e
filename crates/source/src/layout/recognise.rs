//! Recognises a format in the sketches of an entry's first records.

use chatmill_intake::{Framing, RecordSketch, Sketch};

/// Whether a record has a field.
pub(crate) fn has(record: &RecordSketch, wanted: &str) -> bool {
    record.keys.iter().any(|key| key == wanted)
}

/// Whether the first object in a field has a field; `field` is empty for the elements of the record itself.
pub(crate) fn holds(record: &RecordSketch, field: &str, wanted: &str) -> bool {
    let mut inside = record.nested.iter();
    inside.any(|(key, inner)| key == field && inner == wanted)
}

/// Whether an entry is a bare list of such elements, which is framed element by element like every array.
pub(crate) fn is_bare_list(sketch: &Sketch, is_element: fn(&RecordSketch) -> bool) -> bool {
    let mut records = sketch.records.iter();
    sketch.framing == Framing::Array
        && sketch.records.iter().any(is_element)
        && records.all(|record| is_element(record) || !record.is_object)
}

/// The evidence of the record with the highest confidence; of several, the last.
pub(crate) fn surest<W>(
    sketch: &Sketch,
    recognise: impl Fn(&RecordSketch) -> Option<(u8, W)>,
) -> Option<(u8, W)> {
    let records = sketch.records.iter().filter_map(recognise);
    records.max_by_key(|(confidence, _)| *confidence)
}

/// The evidence of the record with the highest confidence; of several, the first.
pub(crate) fn best(
    sketch: &Sketch,
    recognise: impl Fn(&RecordSketch) -> Option<(u8, String)>,
) -> Option<(u8, Vec<String>)> {
    strongest(sketch.records.iter().filter_map(recognise))
}

/// The evidence with the highest confidence; of several, the first.
pub(crate) fn strongest(found: impl Iterator<Item = (u8, String)>) -> Option<(u8, Vec<String>)> {
    let (confidence, why) = found.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some((confidence, vec![why]))
}
