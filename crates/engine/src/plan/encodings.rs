//! Resolves `count.encodings`, the encodings that a run counts tokens in: built-in ones by name, and user-defined ones
//! from their files. Other sections name these or built-in ones ([`named`], [`required`]).

use std::path::Path;

use chatmill_token::Encoding;
use serde_json::{Value, json};

use super::small_file::{read_bytes, read_text};
use crate::error::PlanError;
use crate::pipeline::{CountSection, CountedEncoding, OwnEncoding};

/// The encodings of `count.encodings` in the order of the file, each once.
pub(super) struct Encodings {
    pub(super) encodings: Vec<Encoding>,
    /// The entry of each encoding in the normalised plan ([`super::certified`]): the name of a built-in
    /// one; the name of a user-defined one with the hash of its file.
    pub(super) identities: Vec<Value>,
}

impl Encodings {
    /// Finds and loads the encodings. Paths start at `base`; a file may have up to `limit` bytes.
    pub(super) fn load(count: &CountSection, base: &Path, limit: u64) -> Result<Self, PlanError> {
        let mut loaded = Self {
            encodings: Vec::new(),
            identities: Vec::new(),
        };
        for choice in &count.encodings {
            match choice {
                CountedEncoding::Named(name) => {
                    let encoding = required(&[], "count.encodings", name)?;
                    if !loaded.has(name) {
                        loaded.encodings.push(encoding.clone());
                        loaded.identities.push(name.as_str().into());
                    }
                }
                CountedEncoding::Own(section) => {
                    let (encoding, identity) = own(section, base, limit)?;
                    if loaded.has(&section.name) {
                        return Err(wrong(format!(
                            "`{}` is defined twice; give each encoding its own name",
                            section.name
                        )));
                    }
                    loaded.encodings.push(encoding);
                    loaded.identities.push(identity);
                }
            }
        }
        Ok(loaded)
    }

    fn has(&self, name: &str) -> bool {
        self.encodings.iter().any(|known| known.name() == name)
    }
}

/// Finds an encoding by name: one of `own`, which are those of the plan, else a built-in one.
pub(super) fn named<'e>(own: &'e [Encoding], name: &str) -> Option<&'e Encoding> {
    let own = own.iter().find(|known| known.name() == name);
    own.or_else(|| chatmill_token::find(name))
}

/// Finds an encoding for the value of a key; the error suggests the nearest name.
pub(super) fn required<'e>(
    own: &'e [Encoding],
    key: &'static str,
    name: &str,
) -> Result<&'e Encoding, PlanError> {
    named(own, name).ok_or_else(|| {
        let known = own.iter().chain(chatmill_token::ENCODINGS);
        PlanError::unknown(key, "encoding", name, known.map(Encoding::name))
    })
}

/// Loads a user-defined encoding; returns it with its entry in the normalised plan.
fn own(section: &OwnEncoding, base: &Path, limit: u64) -> Result<(Encoding, Value), PlanError> {
    let name = &section.name;
    let file = match (&section.ranks, &section.pattern, &section.tokenizer) {
        (Some(ranks), Some(_), None) => ranks,
        (None, None, Some(tokenizer)) => tokenizer,
        (Some(_), None, None) => {
            return Err(wrong(format!(
                "`{name}` has `ranks` and no `pattern`, for example pattern = \"llama3\""
            )));
        }
        _ => {
            return Err(wrong(format!(
                "`{name}` needs either `ranks` with `pattern`, or `tokenizer` alone"
            )));
        }
    };
    let path = base.join(file);
    let unreadable = |source| PlanError::UnreadableVocabulary {
        name: name.clone(),
        path: path.clone(),
        source,
    };
    let (encoding, hash) = if let Some(pattern) = &section.pattern {
        let text = read_text(&path, limit, unreadable)?;
        let hash = blake3::hash(text.as_bytes());
        (Encoding::from_ranks(name, &text, pattern), hash)
    } else {
        let file = read_bytes(&path, limit, unreadable)?;
        (Encoding::from_tokenizer(name, &file), blake3::hash(&file))
    };
    let encoding = encoding.map_err(|source| PlanError::Encoding {
        name: name.clone(),
        path,
        source,
    })?;
    let about = encoding.about();
    let identity = json!({
        "name": name,
        "pattern": section.pattern,
        "source": about.source,
        "vocabulary": about.vocabulary,
        "counting": about.counting.as_str(),
        "hash": hash.to_hex().as_str(),
    });
    Ok((encoding, identity))
}

fn wrong(message: String) -> PlanError {
    PlanError::value("count.encodings", message)
}
