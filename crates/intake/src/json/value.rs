//! Values of a scanned document, read from its tape.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use chatmill_diag::{cut, steps};

use super::escape::unescape;
use super::{Document, Node, ScanError, scan};

/// The number of fields above which `duplicate_keys` hashes names instead of comparing pairs.
const FEW_FIELDS: usize = 8;

/// The number of fields above which a name is found by binary search instead of a scan.
const MANY_FIELDS: usize = 64;

/// The number of values from which on the names of an object are remembered until another such object is read: readers
/// ask for one field of a message after the other.
const MANY_VALUES: u32 = 24;

/// The remembered names of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    /// The tape index after the object's node; 0, which no object has, before the first one.
    object: u32,
    /// The length of each name as written, with its tape index; the length is 0 if the name has an escape.
    names: Vec<(usize, u32)>,
}

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, kept as text.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// What a reader has done with a value, so that unread values can be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// The value was not used.
    #[default]
    Left,
    /// The reader interprets the whole value, with everything inside.
    Taken,
    /// The reader keeps the value unchanged, without interpreting it.
    Retained,
    /// The reader reports the value in a separate finding.
    Reported,
    /// The reader parses the JSON in the string; the values inside have separate marks.
    Opened,
}

/// A handle on one value of a document; copying it is free.
#[derive(Clone, Copy, Debug)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    /// The index on the tape.
    pub(super) index: u32,
}

impl<'d> Value<'d> {
    #[inline]
    pub(super) fn new(document: &'d Document<'d>, index: u32) -> Self {
        Self { document, index }
    }

    #[inline]
    fn node(self) -> Node {
        *cut::at(&self.document.nodes, self.index as usize)
    }

    /// The index of the node after this value and everything inside it.
    #[inline]
    pub(super) fn after(self) -> u32 {
        // The link of a scalar is not an index after it.
        self.node().link.max(self.index + 1)
    }

    /// The kind of the value.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.document.text.as_bytes().get(self.node().start as usize) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// Whether the value is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The value's bytes in the frame.
    #[inline]
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The JSON text of the value; lone surrogate escapes are `\uFFFD`. Marks the value as taken.
    #[inline]
    pub fn raw(self) -> &'d str {
        self.mark(Mark::Taken);
        self.written()
    }

    /// The JSON text of the value, without marking it as read.
    #[inline]
    pub fn written(self) -> &'d str {
        cut::text(&self.document.text, self.span())
    }

    /// The mark of the value itself; values around it and inside it have separate marks.
    #[inline]
    pub fn marked(self) -> Mark {
        cut::at(&self.document.marks, self.index as usize).get()
    }

    /// Sets the mark of the value.
    #[inline]
    pub fn mark(self, mark: Mark) {
        cut::at(&self.document.marks, self.index as usize).set(mark);
    }

    /// Whether the value or anything inside it has a mark. Takes time in proportion to the values before the first mark.
    pub fn is_touched(self) -> bool {
        let inside = self.index as usize..self.after() as usize;
        cut::slice(&self.document.marks, inside)
            .iter()
            .any(|mark| mark.get() != Mark::Left)
    }

    /// The text of a string, borrowed if it has no escape. Marks the value as taken.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'d, str>> {
        let text = self.string();
        if text.is_some() {
            self.mark(Mark::Taken);
        }
        text
    }

    /// The text of a string, without marking it as read.
    #[inline]
    pub fn string(self) -> Option<Cow<'d, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        let node = self.node();
        let inside = self
            .document
            .text
            .get(node.start as usize + 1..node.end as usize - 1)?;
        Some(if node.link == 0 {
            Cow::Borrowed(inside)
        } else {
            Cow::Owned(unescape(inside))
        })
    }

    /// Parses the JSON that a reader finds in a string. The document is kept with this one, so that its unread values
    /// can be reported.
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    pub fn open(self, text: &str, depth: u32) -> Result<Rc<Document<'static>>, ScanError> {
        let known = self.opened().into_iter().find(|known| known.text() == text);
        let document = if let Some(known) = known {
            known
        } else {
            let document = Rc::new(scan(text.as_bytes(), depth)?.into_owned());
            let mut inside = self.document.inside.borrow_mut();
            inside.entry(self.index).or_default().push(document.clone());
            document
        };
        self.mark(Mark::Opened);
        Ok(document)
    }

    /// The documents that were parsed from the string, usually one.
    pub fn opened(self) -> Vec<Rc<Document<'static>>> {
        let inside = self.document.inside.borrow();
        // Most strings have no document.
        inside.get(&self.index).cloned().unwrap_or_default()
    }

    /// The text of a number, exactly as written. Marks the value as taken.
    pub fn number_text(self) -> Option<&'d str> {
        (self.kind() == Kind::Number).then(|| self.raw())
    }

    /// The value of `true` or `false`. Marks it as taken.
    pub fn as_bool(self) -> Option<bool> {
        let Kind::Bool(value) = self.kind() else {
            return None;
        };
        self.mark(Mark::Taken);
        Some(value)
    }

    /// The elements of an array; empty for any other kind.
    #[inline]
    pub fn items(self) -> Items<'d> {
        self.inside(Kind::Array)
    }

    /// The direct children of a container of this kind; empty for any other kind.
    #[inline]
    fn inside(self, kind: Kind) -> Items<'d> {
        let (next, end) = if self.kind() == kind {
            (self.index + 1, self.node().link)
        } else {
            (0, 0)
        };
        Items {
            document: self.document,
            next,
            end,
        }
    }

    /// The fields of an object in input order, repeated names included; empty for any other kind.
    #[inline]
    pub fn fields(self) -> impl Iterator<Item = (Cow<'d, str>, Value<'d>)> {
        self.pairs()
            .map(|(key, value)| (key.string().unwrap_or_default(), value))
    }

    /// The fields of an object, with their names as values.
    #[inline]
    pub(super) fn pairs(self) -> impl Iterator<Item = (Value<'d>, Value<'d>)> {
        let mut nodes = self.inside(Kind::Object);
        std::iter::from_fn(move || Some((nodes.next()?, nodes.next()?)))
    }

    /// The last field with that name. Looking up many names is fast: the names of a wide object are sorted once.
    pub fn get(self, key: &str) -> Option<Value<'d>> {
        if self.kind() != Kind::Object {
            return None;
        }
        if self.node().link - self.index > MANY_VALUES {
            return self.get_cached(key);
        }
        let named = self.pairs().filter(|(name, _)| name.spells(key));
        named.last().map(|(_, value)| value)
    }

    /// Looks up a name in a large object and remembers all its names. Without that, each lookup would walk over the
    /// values as well, and a reader asks a message for one field after the other. Only the last object is remembered.
    fn get_cached(self, key: &str) -> Option<Value<'d>> {
        let mut recent = self.document.recent.borrow_mut();
        if recent.object != self.index + 1 {
            recent.object = 0;
            recent.names.clear();
            for (number, (name, _)) in self.pairs().enumerate() {
                if number == MANY_FIELDS {
                    return self.get_sorted(key);
                }
                let node = name.node();
                let bytes = if node.link == 0 { node.end - node.start } else { 0 };
                recent.names.push((bytes as usize, name.index));
            }
            recent.object = self.index + 1;
        }
        let wanted = key.len() + 2;
        let mut names = recent.names.iter().rev();
        let is_it = |(bytes, name): &&(usize, u32)| {
            (*bytes == wanted || *bytes == 0) && Value::new(self.document, *name).spells(key)
        };
        names
            .find(is_it)
            .map(|(_, name)| Value::new(self.document, name + 1))
    }

    /// Looks up a name by binary search, in an object with so many names that comparing each of them for each lookup
    /// would take quadratic time. The sorted names are kept with the document.
    fn get_sorted(self, key: &str) -> Option<Value<'d>> {
        let text = |name: &u32| Value::new(self.document, *name).string().unwrap_or_default();
        let mut sorted = self.document.sorted.borrow_mut();
        let names = sorted.entry(self.index).or_insert_with(|| {
            let mut names: Vec<u32> = self.pairs().map(|(name, _)| name.index).collect();
            // The sort is stable, so equal names stay in input order.
            names.sort_by(|one, other| text(one).cmp(&text(other)));
            names
        });
        let end = names.partition_point(|name| *text(name) <= *key);
        let last = names.get(end.checked_sub(1)?)?;
        (text(last) == key).then(|| Value::new(self.document, last + 1))
    }

    /// Whether the value is a string with this text, or another value that is written so.
    pub(super) fn is_text(self, text: &str) -> bool {
        if self.kind() == Kind::String {
            self.spells(text)
        } else {
            self.span().len() == text.len() && self.written() == text
        }
    }

    /// Whether a string has this text.
    #[inline]
    fn spells(self, text: &str) -> bool {
        let node = self.node();
        if node.link == 0 {
            // Without escapes, the quoted bytes are the text.
            let inside = node.start as usize + 1..node.end as usize - 1;
            self.document.text.as_bytes().get(inside) == Some(text.as_bytes())
        } else {
            self.string().is_some_and(|own| own == text)
        }
    }

    /// The names that are repeated in this object, each once, in order of their first repetition.
    ///
    /// `"a"` and `"\u0061"` are the same name.
    pub fn duplicate_keys(self) -> Vec<String> {
        let names: Vec<Cow<'d, str>> = self.fields().map(|(name, _)| name).collect();
        let mut repeated: Vec<String> = Vec::new();
        if names.len() <= FEW_FIELDS {
            for (at, name) in names.iter().enumerate() {
                if names.iter().take(at).any(|earlier| earlier == name)
                    && !repeated.iter().any(|known| known == name)
                {
                    repeated.push(name.clone().into_owned());
                }
            }
            return repeated;
        }
        let mut seen: HashSet<&str> = HashSet::with_capacity(names.len());
        let mut reported: HashSet<&str> = HashSet::new();
        for name in &names {
            if !seen.insert(name) && reported.insert(name) {
                repeated.push(name.clone().into_owned());
            }
        }
        repeated
    }

    /// The number of elements or fields; 0 for a scalar. Takes time in proportion to the number.
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Array => self.items().count(),
            Kind::Object => self.pairs().count(),
            _ => 0,
        }
    }

    /// Whether there are no elements and no fields.
    #[inline]
    pub fn is_empty(self) -> bool {
        match self.kind() {
            Kind::Array | Kind::Object => self.node().link == self.index + 1,
            _ => true,
        }
    }
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct Items<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Value<'d>;

    #[inline]
    fn next(&mut self) -> Option<Value<'d>> {
        if self.next >= self.end {
            return None;
        }
        steps::taken(1);
        let value = Value::new(self.document, self.next);
        self.next = value.after();
        Some(value)
    }
}
