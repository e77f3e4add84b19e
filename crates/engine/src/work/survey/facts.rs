//! The facts that a slice contributes to the survey: a few
//! about each of its conversations that the selection keeps.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::SliceId;
use chatmill_diag::cut;
use chatmill_dialect::CalledTools;
use chatmill_link::Likeness;
use chatmill_model::Conversation;

use super::bytes::{count, number, read, read_option, read_text, write_option, write_text};
use crate::error::{RunError, unwritable};
use crate::pipeline::{Compared, DedupSection};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::slice::Slice;
use crate::slice::records::{Item, ReadRecord};

/// The assumed memory of a conversation in bytes, to count texts as conversations.
const CONVERSATION_BYTES: usize = 600;

/// The facts of one slice.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SliceFacts {
    pub(super) conversations: Vec<SurveyFacts>,
    /// The different tools that its conversations call.
    called: Vec<String>,
}

/// The facts about a conversation that the plan needs.
#[derive(Debug, PartialEq)]
pub(super) struct SurveyFacts {
    /// The number of its section.
    pub(super) section: usize,
    /// The likeness of the conversation before redaction.
    pub(super) likeness: Option<Likeness>,
    /// The likeness after redaction, if personal data is replaced and earlier datasets are compared.
    pub(super) written: Option<Likeness>,
    /// Its place in the mix, and its amount in the unit of the mix.
    pub(super) mixed: Option<(f64, u64)>,
    /// The index of its tools in [`SliceFacts::called`].
    called: Option<usize>,
}

impl SliceFacts {
    /// Returns the size in conversations: their number, and
    /// the other data divided by the memory of a conversation.
    pub(crate) fn size(&self) -> u64 {
        let written = self.conversations.iter();
        let written = written.filter(|facts| facts.written.is_some()).count();
        let texts: usize = self.called.iter().map(String::len).sum();
        (self.conversations.len() + written + texts / CONVERSATION_BYTES) as u64
    }

    /// Returns the section of each conversation, and the tools that it calls.
    pub(super) fn with_tools(&self) -> impl Iterator<Item = (usize, Option<&str>)> {
        self.conversations.iter().map(|facts| {
            let called = |number| cut::at::<String>(&self.called, number).as_str();
            (facts.section, facts.called.map(called))
        })
    }

    fn write_to(&self, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(&count(self.called.len())?)?;
        for called in &self.called {
            write_text(called, into)?;
        }
        into.write_all(&count(self.conversations.len())?)?;
        for facts in &self.conversations {
            facts.write_to(into)?;
        }
        Ok(())
    }

    fn read_from(from: &mut dyn Read) -> io::Result<Self> {
        let called: Vec<String> = (0..number(from)?)
            .map(|_| read_text(from))
            .collect::<io::Result<_>>()?;
        let conversations = (0..number(from)?).map(|_| SurveyFacts::read_from(from));
        Ok(Self {
            conversations: conversations.collect::<io::Result<_>>()?,
            called,
        })
    }
}

impl SurveyFacts {
    fn write_to(&self, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(&count(self.section)?)?;
        write_option(self.likeness.as_ref(), into, Likeness::write_to)?;
        write_option(self.written.as_ref(), into, Likeness::write_to)?;
        write_option(self.mixed.as_ref(), into, |(place, amount), into| {
            into.write_all(&place.to_le_bytes())?;
            into.write_all(&amount.to_le_bytes())
        })?;
        write_option(self.called.as_ref(), into, |called, into| {
            into.write_all(&count(*called)?)
        })
    }

    fn read_from(from: &mut dyn Read) -> io::Result<Self> {
        Ok(Self {
            section: number(from)? as usize,
            likeness: read_option(from, Likeness::read_from)?,
            written: read_option(from, Likeness::read_from)?,
            mixed: read_option(from, |from| {
                Ok((f64::from_le_bytes(read(from)?), u64::from_le_bytes(read(from)?)))
            })?,
            called: read_option(from, |from| Ok(number(from)? as usize))?,
        })
    }
}

/// Writes the facts of a shard, slice by slice.
pub(crate) fn write_facts(slices: &[SliceFacts], into: &mut dyn Write) -> io::Result<()> {
    into.write_all(&count(slices.len())?)?;
    slices.iter().try_for_each(|slice| slice.write_to(into))
}

/// Reads the facts of a shard, as written by [`write_facts`].
pub(crate) fn read_facts(shard: u32, from: &mut dyn Read) -> io::Result<BTreeMap<SliceId, SliceFacts>> {
    let slices = number(from)?;
    let slices = (0..slices).map(|slice| Ok((SliceId { shard, slice }, SliceFacts::read_from(from)?)));
    slices.collect()
}

/// Returns the likeness of a conversation for comparison by `[dedup]`.
pub(crate) fn likeness(conversation: &Conversation, dedup: &DedupSection) -> Likeness {
    let near = dedup.near_threshold().is_some();
    match dedup.by {
        Compared::Conversation => Likeness::of(conversation, near),
        Compared::Prompt => Likeness::of_question(conversation, near),
    }
}

/// Returns the facts about a slice's conversations that the selection keeps; `None` if `stop` was set.
pub(crate) fn facts(
    slice: &Slice,
    plan: &Plan,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Option<SliceFacts>, RunError> {
    let mut found = SliceFacts::default();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (_, item) in slice.work(progress) {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Item::Record(record) = item else { continue };
        let read = record.read(plan.settings(record.entry.input));
        // The bytes of a record are divided equally among its conversations; the first gets the remainder.
        let bytes = record.bytes.len();
        let (part, mut rest) = (bytes / read.len().max(1), bytes % read.len().max(1));
        for read in &read {
            let own = part + std::mem::take(&mut rest);
            found.conversations.extend(one(read, own, plan, &mut numbers)?);
        }
    }
    let mut called: Vec<(String, usize)> = numbers.into_iter().collect();
    called.sort_unstable_by_key(|(_, number)| *number);
    found.called = called.into_iter().map(|(called, _)| called).collect();
    Ok(Some(found))
}

fn one(
    read: &ReadRecord<'_>,
    bytes: usize,
    plan: &Plan,
    numbers: &mut HashMap<String, usize>,
) -> Result<Option<SurveyFacts>, RunError> {
    let (Some(linked), Some(as_read)) = (&read.outcome.linked, read.outcome.as_read()) else {
        return Ok(None);
    };
    if read.left_out_by(plan).is_some() {
        return Ok(None);
    }
    let (input, dedup) = (read.record.entry.input, &plan.pipeline.dedup);
    let compares_earlier = plan.replaces() && !plan.earlier.is_empty();
    let balance = plan.mix.balance.as_ref();
    let called = plan
        .pipeline
        .infers_by_input()
        .then(|| CalledTools::of(linked.conversation.messages.iter()));
    let called = called.filter(|called| !called.is_empty());
    let called = called.map(|called| serde_json::to_string(&called).map_err(unwritable));
    let called = called.transpose()?;
    let next = numbers.len();
    Ok(Some(SurveyFacts {
        section: plan.section(input),
        likeness: dedup.is_on().then(|| likeness(&as_read.conversation, dedup)),
        written: compares_earlier.then(|| likeness(&linked.conversation, dedup)),
        mixed: balance.map(|balance| {
            let id = plan.base_id(input, as_read, &read.hash);
            (plan.mix.place(&id), balance.measure(&linked.conversation, bytes))
        }),
        called: called.map(|called| *numbers.entry(called).or_insert(next)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_round_trip_and_corrupt_bytes_are_refused() {
        let facts = |section, likeness: bool, mixed, called| SurveyFacts {
            section,
            likeness: likeness.then(|| Likeness::of(&Conversation::default(), true)),
            written: likeness.then(|| Likeness::of(&Conversation::default(), false)),
            mixed,
            called,
        };
        let slice = || SliceFacts {
            conversations: vec![
                facts(0, true, Some((0.25, 7)), Some(1)),
                facts(3, false, None, None),
                facts(1, false, Some((0.0, u64::MAX)), None),
            ],
            called: vec!["{}".to_owned(), "{\"tide\":{}}".to_owned()],
        };
        let mut bytes = Vec::new();
        write_facts(&[slice(), SliceFacts::default()], &mut bytes).unwrap();
        let read = read_facts(4, &mut bytes.as_slice()).unwrap();
        let expected = [slice(), SliceFacts::default()];
        assert!(read.into_values().eq(expected));
        for end in 0..bytes.len() {
            assert!(read_facts(4, &mut &bytes[..end]).is_err(), "{end}");
        }
    }
}
