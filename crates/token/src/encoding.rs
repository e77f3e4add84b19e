//! An entry of the registry: what an encoding is, and its counter, loaded when it is first asked for.

use std::sync::{Arc, OnceLock};

use tiktoken_rs::CoreBPE;

use crate::bpe::{Bpe, Tables};
use crate::counter::Counter;
use crate::judge::Judge;

/// What `chatmill encodings` says about an encoding.
#[derive(Debug)]
pub struct About {
    /// One line: whose it is.
    pub title: &'static str,
    /// Families of models that read it.
    pub models: &'static str,
    /// Ordinary tokens; special ones are never counted.
    pub vocabulary: u32,
    /// Where vocabulary and pattern come from.
    pub source: &'static str,
}

/// An encoding of the registry.
pub struct Encoding {
    pub(crate) name: &'static str,
    pub(crate) about: About,
    pub(crate) tables: fn() -> Arc<Tables>,
    pub(crate) reference: fn() -> &'static CoreBPE,
    pub(crate) loaded: OnceLock<Arc<Bpe>>,
}

impl Encoding {
    pub(crate) const fn new(
        name: &'static str,
        about: About,
        tables: fn() -> Arc<Tables>,
        reference: fn() -> &'static CoreBPE,
    ) -> Self {
        Self {
            name,
            about,
            tables,
            reference,
            loaded: OnceLock::new(),
        }
    }

    /// The tiktoken name, for example `o200k_base`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is and who uses it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The counter, loaded once per process.
    pub fn counter(&self) -> Arc<dyn Counter> {
        self.loaded().clone()
    }

    /// The reference implementation of this encoding, loaded once per process.
    pub fn judge(&self) -> Judge {
        Judge((self.reference)())
    }

    pub(crate) fn loaded(&self) -> &Arc<Bpe> {
        self.loaded.get_or_init(|| {
            Arc::new(Bpe {
                name: self.name,
                tables: (self.tables)(),
            })
        })
    }
}
