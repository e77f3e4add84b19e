//! The tar format: the table of contents is the first member, each table a file of its own, uncompressed.
//!
//! `restore.sql`, a script that loads the files, and the files of large objects hold no rows and are passed over.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::contents::{Contents, Holds, Part};
use super::{Awaited, CONTENTS, MAGIC};
use crate::archive::tar::Tar;
use crate::archive::{Member, MemberBody};
use crate::stream::{Buffered, ReadBudget};

/// Bytes of a tar header.
const HEADER_BYTES: usize = 512;

/// Walks the tables of a tar format dump.
pub(crate) struct DumpTar {
    tar: Tar,
    gauge: Arc<ReadBudget>,
    /// The parts that the first member promises; `None` before it was read.
    parts: Option<Vec<Part>>,
    /// Places among the parts, by the names of their files.
    files: BTreeMap<String, usize>,
    awaited: Awaited,
    is_over: bool,
}

impl DumpTar {
    /// Whether a tar archive that begins with `head` is a dump.
    pub(crate) fn starts(head: &[u8]) -> bool {
        let named = head.strip_prefix(CONTENTS.as_bytes());
        named.is_some_and(|rest| rest.starts_with(b"\0"))
            && head
                .get(HEADER_BYTES..)
                .is_some_and(|body| body.starts_with(MAGIC))
    }

    pub(crate) fn new(bytes: Buffered, gauge: Arc<ReadBudget>) -> Self {
        Self {
            tar: Tar::new(bytes, Arc::clone(&gauge)),
            gauge,
            parts: None,
            files: BTreeMap::new(),
            awaited: Awaited::default(),
            is_over: false,
        }
    }

    /// The next table, or a member that is none, then what is missing.
    pub(crate) fn next(&mut self) -> Option<Member> {
        while !self.is_over {
            let Some(Member { mut heading, body }) = self.tar.next() else {
                self.is_over = true;
                break;
            };
            let MemberBody::File(mut bytes) = body else {
                return Some(Member { heading, body });
            };
            let Some(parts) = &self.parts else {
                match Contents::read(&mut bytes, &self.gauge.limits) {
                    Ok(contents) => self.expect(contents.parts),
                    Err(broken) => {
                        self.is_over = true;
                        return Some(Member::broken(broken));
                    }
                }
                continue;
            };
            let at = self.files.get(&heading.label);
            let Some((at, part)) = at.and_then(|at| Some((*at, parts.get(*at)?))) else {
                if is_passed_over(&heading.label) {
                    continue;
                }
                let body = MemberBody::File(bytes);
                return Some(Member { heading, body });
            };
            self.awaited.came(at);
            if let Holds::Table(table) = &part.holds {
                heading.label.clone_from(&table.name);
                let body = MemberBody::Table(bytes, table.clone());
                return Some(Member { heading, body });
            }
        }
        let parts = self.parts.as_deref().unwrap_or_default();
        self.awaited.missing(parts).map(Member::broken)
    }

    /// Takes over what the table of contents promises.
    fn expect(&mut self, parts: Vec<Part>) {
        self.awaited = Awaited::tables(&parts);
        self.files = (0..)
            .zip(&parts)
            .filter_map(|(at, part)| Some((part.file.clone()?, at)))
            .collect();
        self.parts = Some(parts);
    }
}

/// Whether a file of a dump holds no rows.
fn is_passed_over(name: &str) -> bool {
    name == "restore.sql" || name.starts_with("blob")
}
