//! The tools that the conversations of an input call, reconstructed from the tables of a dataset.

use std::collections::{BTreeMap, HashMap};

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_dialect::CalledTools;
use chatmill_model::RawJson;

use super::rebuilt::{Conversations, StoredConversation};

/// Definitions of called tools by the section of an input; empty if the run did not infer definitions.
#[derive(Default)]
pub(super) struct Called {
    /// The section of each input, by its name.
    sections: HashMap<String, u64>,
    tools: BTreeMap<u64, Vec<RawJson>>,
}

impl Called {
    /// Reads all conversations of a dataset, in the order of its run.
    pub(super) fn of(dataset: &Dataset) -> Result<Self, DatasetError> {
        let inputs = dataset.manifest().inputs.iter();
        let sections: HashMap<String, u64> = inputs.map(|input| (input.path, input.section)).collect();
        let mut tools: BTreeMap<u64, CalledTools> = BTreeMap::new();
        let mut conversations = Conversations::of(dataset)?;
        while let Some(StoredConversation { input, linked, .. }) = conversations.next()? {
            let section = sections.get(&input).copied();
            let called = CalledTools::of(linked.conversation.messages.iter());
            if let Some(section) = section.filter(|_| !called.is_empty()) {
                tools.entry(section).or_default().merge(called);
            }
        }
        let tools = tools.into_iter();
        Ok(Self {
            sections,
            tools: tools
                .map(|(section, tools)| (section, tools.definitions()))
                .collect(),
        })
    }

    /// Returns the definitions for the conversations of an input.
    pub(super) fn of_input(&self, input: &str) -> &[RawJson] {
        let section = self.sections.get(input);
        let tools = section.and_then(|section| self.tools.get(section));
        tools.map_or(&[], Vec::as_slice)
    }
}
