//! The symbols of a text before any merge: characters that are tokens, and tokens for all other characters.

use rustc_hash::FxHashMap;

/// The ids of single characters, and the tokens for all others.
#[derive(Clone)]
pub(crate) struct Symbols {
    pub(crate) characters: FxHashMap<char, u32>,
    pub(crate) others: Others,
}

/// The treatment of a character that is not a token.
#[derive(Clone)]
pub(crate) enum Others {
    /// A token for each of its bytes, by byte.
    Bytes(Vec<u32>),
    /// One token for all such characters.
    Unknown {
        id: u32,
        /// Whether several in a row are one token.
        fuse: bool,
    },
    /// No treatment: every character that occurs is a token.
    None,
}

impl Others {
    /// The tokens for unknown characters.
    pub(crate) fn ids(&self) -> &[u32] {
        match self {
            Self::Bytes(ids) => ids,
            Self::Unknown { id, .. } => std::slice::from_ref(id),
            Self::None => &[],
        }
    }
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

    /// All ids, sorted.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self
            .characters
            .values()
            .chain(self.others.ids())
            .copied()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The same symbols with other ids.
    pub(crate) fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let mut new = self.clone();
        let others = match &mut new.others {
            Others::Bytes(ids) => ids.as_mut_slice(),
            Others::Unknown { id, .. } => std::slice::from_mut(id),
            Others::None => &mut [],
        };
        let ids = new.characters.values_mut().chain(others);
        ids.for_each(|id| *id = number(*id));
        new
    }
}
