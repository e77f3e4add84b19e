//! The type `Encoding` and its counter: an entry of the registry, loaded on first use, or an encoding that a pipeline defines.
//!
//! `encodings` lists the registered ones, `bpe` counts texts. An encoding also knows its reference, an independent implementation against
//! which counts are checked. `token_counter` and all callers of the crate use it.

pub(crate) mod about;
pub(crate) mod custom_encoding;
pub(crate) mod native;
pub(crate) mod reference;
mod reference_counter;

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tiktoken_rs::CoreBPE;

use self::about::{Counting, EncodingAbout};
use self::custom_encoding::CustomEncoding;
use self::native::Native;
use self::reference::ReferenceTokenizer;
use self::reference_counter::ReferenceCounter;
use crate::bpe::merges;
use crate::bpe::tables::{Bpe, Tables};
use crate::counter::Counter;
use crate::split::patterns::Family;
use crate::split::splitter::Splitter;

/// An encoding; clones share their loaded tables.
#[derive(Clone)]
pub struct Encoding(Origin);

#[derive(Clone)]
enum Origin {
    Registered(&'static Registered),
    CustomEncoding(Arc<CustomEncoding>),
}

/// An encoding of the registry.
pub(crate) struct Registered {
    name: &'static str,
    about: EncodingAbout<'static>,
    vocabulary: Embedded,
    reference: OnceLock<CoreBPE>,
    loaded: OnceLock<Arc<Bpe>>,
}

/// The vocabulary of an encoding of the registry.
pub(crate) enum Embedded {
    /// These merges, with texts cut as this family does.
    Merges(&'static [u8], &'static Family),
    /// The vocabulary of another encoding that differs in special tokens only.
    Of(&'static Registered),
}

impl Registered {
    /// Makes an encoding of tiktoken-rs: its name, title, models, number of ordinary tokens, and merges.
    pub(crate) const fn new(
        name: &'static str,
        title: &'static str,
        models: &'static str,
        tokens: u32,
        vocabulary: Embedded,
    ) -> Self {
        Self {
            name,
            about: EncodingAbout {
                title,
                models,
                vocabulary: tokens,
                source: "tiktoken-rs 0.12, embedded",
                counting: Counting::Once,
            },
            vocabulary,
            reference: OnceLock::new(),
            loaded: OnceLock::new(),
        }
    }

    fn loaded(&self) -> &Arc<Bpe> {
        self.loaded.get_or_init(|| {
            Arc::new(Bpe {
                name: self.name.into(),
                tables: self.tables(),
            })
        })
    }

    #[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
    fn tables(&self) -> Arc<Tables> {
        match &self.vocabulary {
            Embedded::Of(other) => Arc::clone(&other.loaded().tables),
            Embedded::Merges(merges, family) => {
                let read = merges::read(merges, self.about.vocabulary as usize);
                let vocabulary = read.expect("the embedded vocabulary is whole");
                Arc::new(Tables::new(
                    Splitter::scan(family.style),
                    vocabulary,
                    family.boundaries,
                ))
            }
        }
    }

    /// Returns tiktoken-rs with these tokens and the published pattern. Its own copies of the vocabularies are three times as large as
    /// ours and would be linked into the program if they were named here; tests compare both.
    #[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
    fn reference(&self) -> &CoreBPE {
        let (merges, family) = match &self.vocabulary {
            Embedded::Of(other) => return other.reference(),
            Embedded::Merges(merges, family) => (merges, family),
        };
        self.reference.get_or_init(|| {
            let mut ranks = FxHashMap::default();
            let read = merges::each(merges, self.about.vocabulary as usize, |bytes, rank, _| {
                ranks.insert(bytes.to_vec(), rank);
            });
            read.expect("the embedded vocabulary is whole");
            let reference = CoreBPE::new(ranks, FxHashMap::default(), family.published());
            reference.expect("tiktoken-rs computes the published patterns")
        })
    }
}

impl Encoding {
    /// An entry of the registry.
    pub(crate) const fn registered(entry: &'static Registered) -> Self {
        Self(Origin::Registered(entry))
    }

    /// An encoding that a pipeline defines.
    pub(crate) fn own(own: CustomEncoding) -> Self {
        Self(Origin::CustomEncoding(Arc::new(own)))
    }

    /// The name, for example `o200k_base`.
    pub fn name(&self) -> &str {
        match &self.0 {
            Origin::Registered(entry) => entry.name,
            Origin::CustomEncoding(own) => &own.name,
        }
    }

    /// The description: title, models, size and origin.
    pub fn about(&self) -> EncodingAbout<'_> {
        match &self.0 {
            Origin::Registered(entry) => entry.about,
            Origin::CustomEncoding(own) => own.about(),
        }
    }

    /// The counter, loaded once per process.
    pub fn counter(&self) -> Arc<dyn Counter> {
        match &self.0 {
            Origin::Registered(entry) => entry.loaded().clone(),
            Origin::CustomEncoding(own) => Arc::clone(&own.counter),
        }
    }

    /// The reference implementation of this encoding, loaded once per process.
    pub fn reference(&self) -> ReferenceTokenizer {
        match &self.0 {
            Origin::Registered(entry) => ReferenceTokenizer::embedded(entry.reference()),
            Origin::CustomEncoding(own) => own.reference.clone(),
        }
    }

    /// The reference as a counter: exact as well, and slow.
    pub fn reference_counter(&self) -> Arc<dyn Counter> {
        Arc::new(ReferenceCounter {
            reference: self.reference(),
            own: self.counter(),
        })
    }

    /// The counter of texts that the normalizers change, if the tables count all others.
    pub(crate) fn normalised(&self) -> Option<&Arc<Native>> {
        match &self.0 {
            Origin::Registered(_) => None,
            Origin::CustomEncoding(own) => own.normalised.as_ref(),
        }
    }

    /// The tables for splitting and merging; `None` if only the counter can count.
    pub(crate) fn tables(&self) -> Option<&Arc<Tables>> {
        match &self.0 {
            Origin::Registered(entry) => Some(&entry.loaded().tables),
            Origin::CustomEncoding(own) => own.tables.as_ref(),
        }
    }
}
