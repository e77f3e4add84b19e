//! File access: chatmill writes, removes and reads back its output files only through this module.
//!
//! A folder is an open handle ([`Dir`]), and its entries are reached from the handle, name by name. No link is
//! followed, and a folder that is moved meanwhile does not redirect a write. New files are created exclusively; a file
//! that must appear whole is written under a temporary name, synced and renamed. A folder for unfinished work has a
//! mark file ([`WorkDir`]); a folder without the mark is not touched. Every call asks [`chatmill_diag::faults`] first,
//! so that tests can let it fail, and is repeated when a signal interrupts it. The names and contents of the files are
//! the callers' matter.

#![expect(
    clippy::disallowed_methods,
    reason = "all other modules access files through this one"
)]

mod call;
mod dir;
mod file;
mod hashed;
mod lock;
mod place;
mod spill;
mod temp_file;
mod temp_name;
mod work_dir;

pub(crate) use self::dir::{
    Dir, DirEntry, EntryKind, PRIVATE_FILE, PRIVATE_FOLDER, USUAL_FILE, USUAL_FOLDER, up,
};
pub(crate) use self::file::DiskFile;
pub use self::file::FileMeasure;
pub(crate) use self::hashed::Hashed;
pub(crate) use self::lock::{Lock, sibling};
pub(crate) use self::place::{above, create_folders, resolve, stat_link, stat_target};
pub use self::spill::{Spill, SpillFolder};
pub(crate) use self::temp_name::{is_temp_file, is_temp_file_of, random_digits};
pub(crate) use self::work_dir::{IsOurs, MARK, WorkDir, WorkDirLocation};
