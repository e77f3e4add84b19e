//! What a text is made of before anything is merged: characters that are tokens, and something for those that are none.

use rustc_hash::FxHashMap;

/// Ids of single characters, and of what stands for all others.
#[derive(Clone)]
pub(crate) struct Symbols {
    pub(crate) characters: FxHashMap<char, u32>,
    pub(crate) others: Others,
}

/// What a character is that is no token.
#[derive(Clone)]
pub(crate) enum Others {
    /// A token for each of its bytes.
    Bytes(Vec<u32>),
    /// This token.
    Unknown {
        id: u32,
        /// Whether several of them in a row are one.
        fuse: bool,
    },
    /// There is none: every character that comes by is a token.
    None,
}

impl Symbols {
    /// Calls `symbol` with the byte at which each symbol of a piece begins, and its id.
    pub(crate) fn each(&self, piece: &str, mut symbol: impl FnMut(usize, u32)) {
        let mut is_unknown = false;
        for (at, character) in piece.char_indices() {
            let was_unknown = std::mem::take(&mut is_unknown);
            if let Some(id) = self.characters.get(&character) {
                symbol(at, *id);
                continue;
            }
            match &self.others {
                Others::Bytes(ids) => {
                    let mut buffer = [0; 4];
                    for (offset, byte) in character.encode_utf8(&mut buffer).bytes().enumerate() {
                        if let Some(id) = ids.get(usize::from(byte)) {
                            symbol(at + offset, *id);
                        }
                    }
                }
                Others::Unknown { id, fuse } => {
                    is_unknown = true;
                    if !(*fuse && was_unknown) {
                        symbol(at, *id);
                    }
                }
                Others::None => {}
            }
        }
    }

    /// All ids, in order.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.characters.values().copied().collect();
        match &self.others {
            Others::Bytes(bytes) => ids.extend(bytes),
            Others::Unknown { id, .. } => ids.push(*id),
            Others::None => {}
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The same with other ids.
    pub(crate) fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let characters = self.characters.iter();
        Self {
            characters: characters
                .map(|(character, id)| (*character, number(*id)))
                .collect(),
            others: match &self.others {
                Others::Bytes(ids) => Others::Bytes(ids.iter().map(|id| number(*id)).collect()),
                Others::Unknown { id, fuse } => Others::Unknown {
                    id: number(*id),
                    fuse: *fuse,
                },
                Others::None => Others::None,
            },
        }
    }
}
