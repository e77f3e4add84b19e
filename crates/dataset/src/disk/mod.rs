//! The one door to the file system: whatever chatmill writes, removes or reads back of its own goes through here.
//!
//! A folder is an open handle ([`Dir`]), and what lies in it is reached from the handle, name by name. Nothing is
//! reached through a link, and nothing that somebody moves meanwhile leads elsewhere. New files are created exclusively;
//! what must not be half there is written aside, synced and renamed. Folders for unfinished work have a mark
//! ([`Home`]): where it is missing, nothing is touched.
//!
//! Every call asks [`chatmill_diag::faults`] first, and is repeated where a signal interrupted it. Which files there are
//! and what they mean is not known here.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the place that the ban of everything else leads to"
)]

mod call;
mod dir;
mod file;
mod hashed;
mod home;
mod lock;
mod place;
mod report_file;
mod spill;

pub(crate) use self::dir::{
    Dir, DirEntry, EntryKind, PRIVATE_FILE, PRIVATE_FOLDER, USUAL_FILE, USUAL_FOLDER, random_digits,
};
pub(crate) use self::file::DiskFile;
pub use self::file::FileMeasure;
pub(crate) use self::hashed::Hashed;
pub(crate) use self::home::{Home, HomePlace, IsOurs, MARK};
pub(crate) use self::lock::Lock;
pub(crate) use self::place::{above, create_folders, look_at_link, look_through, resolve};
pub use self::report_file::{ReportFile, create_report};
pub use self::spill::{Spill, SpillFolder};

/// Whether a file has a name of those that [`Dir::create_aside`] gives.
pub(crate) fn is_aside(name: &str) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
    stem.and_then(|stem| stem.rsplit_once('.'))
        .is_some_and(|(_, random)| {
            random.len() == dir::RANDOM_DIGITS
                && random
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
}
