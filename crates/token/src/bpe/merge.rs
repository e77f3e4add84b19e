//! Byte-pair merging of one piece: always the pair of lowest rank, the leftmost among equals, until no pair is a token.
//!
//! There are three ways to the same result. A short piece lives in two small arrays and looks at all its pairs after every merge, without
//! allocating. A long piece keeps its pairs in a heap, and a piece of many KiB in lists, so that a megabyte without a space takes tenths of
//! a second and not a day. Tests compare the three.

mod joins;

use self::joins::Joins;
use crate::bpe::merge_table::MergeTable;
use crate::bpe::pairs::NO_TOKEN;

/// The length in bytes of the longest piece that is merged in arrays: one bit per byte in a word.
pub(crate) const SHORT_PIECE_BYTES: usize = 64;

/// The length in bytes of most pieces; their arrays are short enough to be scanned at once.
const SHORTEST_PIECE_BYTES: usize = 16;

/// Bits of a position in a short piece.
const POSITION_BITS: u32 = SHORT_PIECE_BYTES.trailing_zeros();

/// The length in bytes from which the pairs of a piece are kept in lists. Such a piece mostly repeats the same few bytes, and then lists
/// take a third of the time of a heap.
const LISTED_PIECE_BYTES: usize = 4 << 10;

/// The length in bytes up to which offsets fit into the heap; a longer piece is merged in parts. No limit of the program lets a text grow
/// so long.
const HEAP_PIECE_BYTES: usize = 1 << 31;

/// The bytes at which the tokens of a piece of at most [`SHORT_PIECE_BYTES`] bytes begin, a bit each.
pub(crate) fn beginnings(table: &MergeTable, piece: &[u8]) -> u64 {
    if piece.len() <= SHORTEST_PIECE_BYTES {
        Parts::<SHORTEST_PIECE_BYTES>::merged(table, piece).begin
    } else {
        Parts::<SHORT_PIECE_BYTES>::merged(table, piece).begin
    }
}

/// The same for symbols: the byte at which each begins, and its id.
pub(crate) fn beginnings_of_symbols(table: &MergeTable, symbols: &[(usize, u32)]) -> u64 {
    let mut parts = Parts::<SHORT_PIECE_BYTES>::of_symbols(table, symbols);
    while parts.join_first(table) {}
    parts.begin
}

/// The same in two vocabularies at once. Interleaving them overlaps their cache misses, which take most of the time.
pub(crate) fn beginnings_in_both(tables: [&MergeTable; 2], piece: &[u8]) -> [u64; 2] {
    if piece.len() <= SHORTEST_PIECE_BYTES {
        Parts::<SHORTEST_PIECE_BYTES>::merged_in_both(tables, piece)
    } else {
        Parts::<SHORT_PIECE_BYTES>::merged_in_both(tables, piece)
    }
}

/// The growing tokens of a short piece; each is identified by its first byte.
struct Parts<const N: usize> {
    /// The first bytes of the parts, a bit each.
    begin: u64,
    ids: [u32; N],
    /// For each part that can be joined with the next: the id of both together, then the position. The lowest is joined first.
    joins: [i32; N],
}

/// No join: it is ordered after all others.
const NO_JOIN: i32 = i32::MAX;

/// The key of a join. Ids are ranks, so the join of lowest rank has the lowest key; among equals, the leftmost.
fn join(becomes: u32, at: usize) -> i32 {
    if becomes == NO_TOKEN {
        NO_JOIN
    } else {
        // The key has 31 bits, so that it is never negative.
        (becomes << POSITION_BITS | at as u32).cast_signed()
    }
}

impl<const N: usize> Parts<N> {
    fn merged(table: &MergeTable, piece: &[u8]) -> Self {
        let mut parts = Self::of_bytes(table, piece);
        while parts.join_first(table) {}
        parts
    }

    fn merged_in_both([first, second]: [&MergeTable; 2], piece: &[u8]) -> [u64; 2] {
        let mut one = Self::of_bytes(first, piece);
        let mut other = Self::of_bytes(second, piece);
        while one.join_first(first) | other.join_first(second) {}
        [one.begin, other.begin]
    }

    /// Joins the pair of lowest rank, if there is a pair.
    #[inline]
    fn join_first(&mut self, table: &MergeTable) -> bool {
        let first = self.joins.iter().copied().fold(NO_JOIN, i32::min);
        if first == NO_JOIN {
            return false;
        }
        let first = first.cast_unsigned();
        self.join_at(table, first as usize % SHORT_PIECE_BYTES, first >> POSITION_BITS);
        true
    }

    fn of_bytes(table: &MergeTable, piece: &[u8]) -> Self {
        let mut parts = Self {
            begin: u64::MAX >> (SHORT_PIECE_BYTES - piece.len().clamp(1, SHORT_PIECE_BYTES)),
            ids: [NO_TOKEN; N],
            joins: [NO_JOIN; N],
        };
        for (id, byte) in parts.ids.iter_mut().zip(piece) {
            *id = table.byte(*byte);
        }
        for ((at, place), pair) in parts.joins.iter_mut().enumerate().zip(piece.windows(2)) {
            if let [first, second] = *pair {
                *place = join(table.byte_pair(first, second), at);
            }
        }
        parts
    }

    fn of_symbols(table: &MergeTable, symbols: &[(usize, u32)]) -> Self {
        let mut parts = Self {
            begin: 0,
            ids: [NO_TOKEN; N],
            joins: [NO_JOIN; N],
        };
        for (at, id) in symbols {
            parts.begin |= 1 << at;
            if let Some(place) = parts.ids.get_mut(*at) {
                *place = *id;
            }
        }
        for pair in symbols.windows(2) {
            if let [(at, left), (_, right)] = *pair
                && let Some(place) = parts.joins.get_mut(at)
            {
                *place = join(table.pair(left, right), at);
            }
        }
        parts
    }

    #[inline]
    fn join_at(&mut self, table: &MergeTable, at: usize, becomes: u32) {
        let right = self.next(at);
        self.begin &= !(1 << right);
        if let Some(place) = self.joins.get_mut(right) {
            *place = NO_JOIN;
        }
        if let Some(id) = self.ids.get_mut(at) {
            *id = becomes;
        }
        let next = self.next(at);
        let before = self.begin & !(u64::MAX << at);
        let left = (u64::BITS - 1).saturating_sub(before.leading_zeros()) as usize;
        // Both are looked up before either is used, so that their cache misses overlap.
        let with_next = table.pair(becomes, self.id(next));
        let with_left = table.pair(self.id(left), becomes);
        // For the first part `left == at`: the second write wins, and it is the join with the next part.
        if let Some(place) = self.joins.get_mut(left) {
            *place = join(with_left, left);
        }
        if let Some(place) = self.joins.get_mut(at) {
            *place = join(with_next, at);
        }
    }

    /// The ids of the parts, if there are exactly two.
    fn two(&self) -> Option<(u32, u32)> {
        (self.begin.count_ones() == 2).then(|| (self.id(0), self.id(self.next(0))))
    }

    /// The id of a part; `NO_TOKEN` after the last one.
    fn id(&self, at: usize) -> u32 {
        self.ids.get(at).copied().unwrap_or(NO_TOKEN)
    }

    /// The first byte of the next part; `SHORT_PIECE_BYTES` after the last one.
    fn next(&self, at: usize) -> usize {
        let after = self.begin >> at >> 1;
        if after == 0 {
            SHORT_PIECE_BYTES
        } else {
            at + 1 + after.trailing_zeros() as usize
        }
    }
}

/// Merges pieces of any length, and keeps its buffers for the next.
#[derive(Default)]
pub(crate) struct Merger {
    links: Vec<Link>,
    joins: Joins,
}

/// A growing token of a long piece, identified by its first byte.
#[derive(Clone, Copy)]
struct Link {
    /// The first byte of the part before; for the first part, its own.
    before: u32,
    /// One past the last byte.
    end: u32,
    id: u32,
    /// The id of this part and the next together, or `NO_TOKEN`.
    joined: u32,
}

impl Merger {
    /// Calls `token` with the length in bytes of each token of a piece that is longer than [`SHORT_PIECE_BYTES`], in order.
    pub(crate) fn each_of_long(&mut self, table: &MergeTable, piece: &[u8], mut token: impl FnMut(usize)) {
        for fragment in piece.chunks(HEAP_PIECE_BYTES) {
            self.merge_long(table, fragment);
            self.each_part(|part, at| token((part.end - at) as usize));
        }
    }

    /// The same for symbols of a piece of `bytes` bytes: the byte at which each begins, and its id.
    pub(crate) fn each_of_symbols(
        &mut self,
        table: &MergeTable,
        symbols: &[(usize, u32)],
        bytes: usize,
        mut token: impl FnMut(usize),
    ) {
        self.links.clear();
        self.joins.begin(heaped(bytes));
        let ends = symbols.iter().skip(1).map(|(start, id)| (*start, Some(*id)));
        let mut before = 0;
        for ((start, id), (end, next)) in symbols.iter().zip(ends.chain([(bytes, None)])) {
            let joined = next.map_or(NO_TOKEN, |next| table.pair(*id, next));
            let link = Link {
                before,
                end: end as u32,
                id: *id,
                joined,
            };
            before = *start as u32;
            // No symbol begins at the bytes between, and no link leads there.
            self.links.resize(end, link);
            self.queue(before, joined);
        }
        self.merge_all(table);
        self.each_part(|part, at| token((part.end - at) as usize));
    }

    /// The two tokens that the merges leave of a byte string; `None` if they leave any other number.
    pub(crate) fn last_pair(&mut self, table: &MergeTable, bytes: &[u8]) -> Option<(u32, u32)> {
        if bytes.len() <= SHORTEST_PIECE_BYTES {
            return Parts::<SHORTEST_PIECE_BYTES>::merged(table, bytes).two();
        }
        if bytes.len() <= SHORT_PIECE_BYTES {
            return Parts::<SHORT_PIECE_BYTES>::merged(table, bytes).two();
        }
        self.merge_long(table, bytes);
        let mut ids = Vec::new();
        self.each_part(|part, _| ids.push(part.id));
        match *ids {
            [left, right] => Some((left, right)),
            _ => None,
        }
    }

    fn merge_long(&mut self, table: &MergeTable, piece: &[u8]) {
        self.merge_queued(table, piece, heaped(piece.len()));
    }

    /// Merges a piece; pairs with an id above `heaped` are kept in lists.
    fn merge_queued(&mut self, table: &MergeTable, piece: &[u8], heaped: u32) {
        self.links.clear();
        self.joins.begin(heaped);
        for (start, byte) in (0_u32..).zip(piece) {
            let next = piece.get(start as usize + 1);
            let joined = next.map_or(NO_TOKEN, |next| table.byte_pair(*byte, *next));
            self.links.push(Link {
                before: start.saturating_sub(1),
                end: start + 1,
                id: table.byte(*byte),
                joined,
            });
            self.queue(start, joined);
        }
        self.merge_all(table);
    }

    /// Merges the queued pairs of the links.
    fn merge_all(&mut self, table: &MergeTable) {
        while let Some((joined, start)) = self.joins.pop() {
            // A pair that has changed since is recognised by a different id.
            let Some(left) = self.link(start).filter(|left| left.joined == joined) else {
                continue;
            };
            let Some(right) = self.links.get_mut(left.end as usize) else {
                continue;
            };
            right.joined = NO_TOKEN;
            let end = right.end;
            if let Some(next) = self.links.get_mut(end as usize) {
                next.before = start;
            }
            if let Some(left) = self.links.get_mut(start as usize) {
                (left.end, left.id) = (end, joined);
            }
            self.renew(table, start);
            if left.before != start {
                self.renew(table, left.before);
            }
        }
    }

    fn link(&self, start: u32) -> Option<Link> {
        self.links.get(start as usize).copied()
    }

    fn queue(&mut self, start: u32, joined: u32) {
        if joined != NO_TOKEN {
            self.joins.push(joined, start);
        }
    }

    /// Looks up the pair that begins at `start`, and queues it if it is a token.
    fn renew(&mut self, table: &MergeTable, start: u32) {
        let Some(left) = self.link(start) else { return };
        let right = self.link(left.end);
        let joined = right.map_or(NO_TOKEN, |right| table.pair(left.id, right.id));
        if let Some(left) = self.links.get_mut(start as usize) {
            left.joined = joined;
        }
        self.queue(start, joined);
    }

    /// Calls `part` with each token that is left, and its first byte.
    fn each_part(&self, mut part: impl FnMut(Link, u32)) {
        let mut at = 0;
        while let Some(link) = self.link(at) {
            part(link, at);
            at = link.end;
        }
    }
}

/// The largest id for which pairs of a piece of this length are kept in the heap; the pairs of larger ids are in lists.
fn heaped(bytes: usize) -> u32 {
    if bytes < LISTED_PIECE_BYTES { u32::MAX } else { 0 }
}

/// Calls `token` with the distances between the bits of `begin`, the last one from `end`.
pub(crate) fn each_length(mut begin: u64, end: usize, mut token: impl FnMut(usize)) {
    while begin != 0 {
        let at = begin.trailing_zeros() as usize;
        begin &= begin - 1;
        let next = if begin == 0 {
            end
        } else {
            begin.trailing_zeros() as usize
        };
        token(next - at);
    }
}

#[cfg(test)]
mod tests;
