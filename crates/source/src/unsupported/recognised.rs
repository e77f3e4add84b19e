//! Chooses the source of an entry: the one that is surest of the first records, unless it can read only a few of them.
//!
//! Evidence in one record counts for the whole entry: often only the first line of an agent's log identifies the program, and only a
//! request with a call identifies the vendor. A record of another format in a file is no such evidence: its source cannot read the
//! other records.

use chatmill_diag::Limits;
use chatmill_intake::{Head, Sketch, json};

use super::unsupported_records;
use crate::{Evidence, FrameView, SOURCES, Source, find};

/// Asks every source and returns the best evidence; the first source wins a tie.
///
/// `None` if the records look more like an unsupported format.
pub fn detect(head: &Head, limits: &Limits) -> Option<Evidence> {
    let sketch = head.sketch();
    decided(&considered(&sketch), head, &sketch, limits)
}

/// The evidence for each source, highest confidence first; of equals, the first source is first.
pub fn considered(sketch: &Sketch) -> Vec<Evidence> {
    let evidence = SOURCES.iter().filter_map(|source| source.detect(sketch));
    let mut considered: Vec<Evidence> = evidence.collect();
    // The sort is stable: of equals, the first source stays first.
    considered.sort_by_key(|evidence| std::cmp::Reverse(evidence.confidence));
    considered
}

/// The evidence that decides, given the evidence for each source.
pub fn decided(considered: &[Evidence], head: &Head, sketch: &Sketch, limits: &Limits) -> Option<Evidence> {
    let trial = Trial { head, sketch, limits };
    let best = trial.best(considered)?;
    let is_another = unsupported_records(sketch).is_some_and(|other| {
        let is_seen = |one: &Sketch| unsupported_records(one).is_some_and(|one| one.name == other.name);
        other.confidence > best.confidence && (trial.seen_in_most(is_seen) || !trial.reads_most(best))
    });
    (!is_another).then(|| best.clone())
}

/// The first records of an entry, to try sources on.
struct Trial<'h> {
    head: &'h Head,
    sketch: &'h Sketch,
    limits: &'h Limits,
}

impl Trial<'_> {
    /// The evidence for the surest source; or, if that source cannot read most of the records, for the next one that can.
    fn best<'e>(&self, considered: &'e [Evidence]) -> Option<&'e Evidence> {
        let (first, others) = considered.split_first()?;
        let surest = find(first.source)?;
        let is_sure = others.is_empty()
            || surest.groups_rows(self.sketch)
            || self.seen_in_most(|one| surest.recognise(one).is_some())
            || self.reads_most(first);
        let next = || others.iter().find(|evidence| self.reads_most(evidence));
        Some(if is_sure { first } else { next().unwrap_or(first) })
    }

    /// Whether at least half of the records pass a test, each on its own. Of one or two records, nothing can be concluded: the answer is yes.
    fn seen_in_most(&self, is_seen: impl Fn(&Sketch) -> bool) -> bool {
        let records = &self.sketch.records;
        let seen = records.iter().filter(|record| {
            is_seen(&Sketch {
                framing: self.sketch.framing,
                records: vec![(*record).clone()],
            })
        });
        records.len() < 3 || seen.count() * 2 >= records.len()
    }

    /// Whether a source that reads each record separately accepts at least half of them. Bytes that are no JSON are no evidence.
    fn reads_most(&self, evidence: &Evidence) -> bool {
        let source = find(evidence.source).filter(|source| !source.groups_rows(self.sketch));
        let Some(source) = source else { return false };
        let records = self.head.records();
        let records = records.iter().take(self.sketch.records.len());
        let outcomes: Vec<bool> = records.filter_map(|bytes| self.reads(source, bytes)).collect();
        let read = outcomes.iter().filter(|is_read| **is_read).count();
        read * 2 >= outcomes.len()
    }

    fn reads(&self, source: &dyn Source, bytes: &[u8]) -> Option<bool> {
        let document = json::scan(bytes, self.limits.depth).ok()?;
        let frame = FrameView::alone(&document, bytes);
        Some(source.read(&frame, self.limits).error.is_none())
    }
}
