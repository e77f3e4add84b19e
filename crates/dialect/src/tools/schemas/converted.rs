//! A cache of converted schemas: most conversations of an archive have the same tools.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::tools::schemas::json_schema::Parameters;

/// Maximum number of bytes of schemas in the cache of a thread; before it would exceed them, the cache is emptied.
const MOST_BYTES: usize = 256 << 10;

/// How a schema is converted: the code of the rule that it has to keep, whether schemas beyond the vendor's subset have a place, and
/// whether the tool claims to be strict.
pub(crate) type Way = (&'static str, bool, bool);

/// The converted schemas, by text and by way of conversion.
#[derive(Default)]
struct Memory {
    by_text: HashMap<Box<str>, Vec<(Way, Rc<Parameters>)>>,
    /// Bytes of the texts, counted once for each way.
    bytes: usize,
}

impl Memory {
    fn get(&self, raw: &str, way: Way) -> Option<Rc<Parameters>> {
        let (_, known) = self.by_text.get(raw)?.iter().find(|(own, _)| *own == way)?;
        Some(Rc::clone(known))
    }

    fn add(&mut self, raw: &str, way: Way, converted: &Rc<Parameters>) {
        if raw.len() > MOST_BYTES {
            return;
        }
        if self.bytes + raw.len() > MOST_BYTES {
            *self = Self::default();
        }
        self.bytes += raw.len();
        let ways = self.by_text.entry(raw.into()).or_default();
        ways.push((way, Rc::clone(converted)));
    }
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Returns the cached conversion of a schema, or converts it and caches the result.
pub(crate) fn remembered(raw: &str, way: Way, convert: impl FnOnce(&str) -> Parameters) -> Rc<Parameters> {
    if let Some(known) = MEMORY.with_borrow(|memory| memory.get(raw, way)) {
        return known;
    }
    let converted = Rc::new(convert(raw));
    MEMORY.with_borrow_mut(|memory| memory.add(raw, way, &converted));
    converted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_remembered_by_text_and_way_up_to_a_limit() {
        let mut memory = Memory::default();
        let add = |memory: &mut Memory, raw: &str, way| {
            memory.add(raw, way, &Rc::new(Parameters::of(raw.to_owned())));
        };
        let [one, other] = [("ABC-01", false, false), ("ABC-01", false, true)];
        add(&mut memory, "a", one);
        assert!(memory.get("a", one).is_some() && memory.get("a", other).is_none());
        let rest = "b".repeat(MOST_BYTES - 1);
        add(&mut memory, &rest, other);
        assert!(memory.get("a", one).is_some() && memory.get(&rest, other).is_some());
        add(&mut memory, "c", one);
        assert!(memory.get("a", one).is_none() && memory.get("c", one).is_some());
        add(&mut memory, &"d".repeat(MOST_BYTES + 1), one);
        assert_eq!((memory.by_text.len(), memory.bytes), (1, 1));
    }
}
