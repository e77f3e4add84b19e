//! Unfinished work that many processes do together, on one machine or on several over a shared folder: nobody holds a lock.
//!
//! ```text
//! .<name>.staging/<fingerprint>/
//!     plan.json                  what is to be done, for whoever takes a share
//!     lots/<lot>.json            what came of a lot: from here on it is done
//!     lots/<lot>.failed.json     why the last attempt at it failed
//!     lots/<lot>.likenesses      what its conversations are compared by
//!     clusters                   where each conversation stands among all
//!     temp/worker-<random>/      what a worker is writing
//! ```
//!
//! A file gets its name by a rename of a synced one. The files of a slice are the same whoever makes them, so that two who do the same lot
//! put the same files in one another's place. What a killed worker leaves is in a folder of its own, and goes with the rest.

use std::path::Path;

use crate::disk::{self, Dir, EntryKind, Home};
use crate::error::DatasetError;
use crate::publish::destination::Destination;
use crate::publish::work::comparison;
use crate::publish::work::staging::Staging;
use crate::publish::work::workplace::{
    CLUSTERS, DONE, FAILED, LOTS, PLAN, TEMP, WORKER, is_worker, outcome_name, workplace,
};

/// Bytes of a plan at most: that of two million inputs.
const PLAN_BYTES: u64 = 1 << 30;
/// Bytes of what came of a lot at most.
const LOT_BYTES: u64 = 256 << 20;

/// What came of a lot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LotOutcome {
    /// It is done, and this is what whoever did it says of it.
    Done(Vec<u8>),
    /// The last attempt failed, for this reason.
    Failed(Vec<u8>),
    /// Nobody has ended an attempt.
    Missing,
}

/// The work that was planned for a destination, to be looked at: nothing is made there, and nobody is hindered.
#[derive(Debug)]
pub struct PlannedWork {
    destination: Destination,
    home: Home,
    root: Dir,
    fingerprint: String,
    plan: Vec<u8>,
}

/// Finds the work that was planned for a destination; nothing where none was planned.
///
/// # Errors
///
/// Where the folder cannot be used, or several plans lie in it.
pub fn planned_work(out: &Path) -> Result<Option<PlannedWork>, DatasetError> {
    if disk::look_through(disk::above(out))?.is_none() {
        return Ok(None);
    }
    let destination = Destination::locate(out)?;
    let Some(home) = workplace(&destination).open()? else {
        return Ok(None);
    };
    let mut found = None;
    for entry in home.dir().list()? {
        if entry.kind != EntryKind::Folder {
            continue;
        }
        let root = home.dir().enter(&entry.name)?;
        if let Some(plan) = root.read_small(PLAN, PLAN_BYTES)? {
            if found.is_some() {
                return Err(DatasetError::wrong_path(
                    home.dir().path(),
                    "it holds several plans; plan again",
                ));
            }
            found = Some((entry.name, root, plan));
        }
    }
    Ok(found.map(|(fingerprint, root, plan)| PlannedWork {
        destination,
        home,
        root,
        fingerprint,
        plan,
    }))
}

impl PlannedWork {
    /// What whoever takes a share must know.
    pub fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// What came of a lot.
    ///
    /// # Errors
    ///
    /// Where its file cannot be read.
    pub fn lot(&self, lot: u32) -> Result<LotOutcome, DatasetError> {
        outcome_of(&self.root, lot)
    }

    /// Whether somebody has put down what the conversations of a lot are compared by.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read.
    pub fn has_likenesses(&self, lot: u32) -> Result<bool, DatasetError> {
        comparison::has_likenesses(&self.root, lot)
    }

    /// Whether somebody has put down where all conversations stand.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read.
    pub fn has_clusters(&self) -> Result<bool, DatasetError> {
        Ok(self.root.look(CLUSTERS)?.is_some())
    }

    /// Takes a share in it.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be used, or somebody holds the destination's lock, who may take the work away.
    pub fn share(self) -> Result<Staging, DatasetError> {
        let root = self.root;
        let temp = root
            .make(TEMP, disk::PRIVATE_FOLDER)?
            .make(format!("{WORKER}{}", disk::random_digits()), disk::PRIVATE_FOLDER)?;
        let staging = Staging::within(self.destination, self.home, root, temp, &self.fingerprint)?;
        // Whoever takes the lock after this removes our folder, and we fail. Whoever held it before may be about to publish what
        // we would write into.
        if let Err(error) = staging.destination.refuse_locked() {
            staging.leave_share();
            return Err(error);
        }
        Ok(staging)
    }
}

fn outcome_of(root: &Dir, lot: u32) -> Result<LotOutcome, DatasetError> {
    let Some(lots) = root.find(LOTS)? else {
        return Ok(LotOutcome::Missing);
    };
    if let Some(outcome) = lots.read_small(&outcome_name(lot, DONE), LOT_BYTES)? {
        return Ok(LotOutcome::Done(outcome));
    }
    let failure = lots.read_small(&outcome_name(lot, FAILED), LOT_BYTES)?;
    Ok(failure.map_or(LotOutcome::Missing, LotOutcome::Failed))
}

impl Staging {
    /// Keeps what whoever takes a share must know.
    pub fn keep_plan(&self, plan: &[u8]) -> Result<(), DatasetError> {
        self.root.replace(PLAN, plan, &self.temp)
    }

    /// Says that a lot is done. All its slices have their receipts.
    pub fn keep_lot(&self, lot: u32, outcome: &[u8]) -> Result<(), DatasetError> {
        self.keep_of_lot(&outcome_name(lot, DONE), outcome)
    }

    /// Says why an attempt at a lot failed.
    pub fn keep_failure(&self, lot: u32, reason: &[u8]) -> Result<(), DatasetError> {
        self.keep_of_lot(&outcome_name(lot, FAILED), reason)
    }

    fn keep_of_lot(&self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        let lots = self.root.make(LOTS, disk::PRIVATE_FOLDER)?;
        lots.replace(name, bytes, &self.temp)
    }

    /// Forgets that a lot was done.
    pub fn forget_lot(&self, lot: u32) -> Result<(), DatasetError> {
        match self.root.find(LOTS)? {
            Some(lots) => lots.remove_file(outcome_name(lot, DONE)),
            None => Ok(()),
        }
    }

    /// What came of a lot.
    pub fn lot(&self, lot: u32) -> Result<LotOutcome, DatasetError> {
        outcome_of(&self.root, lot)
    }

    /// Whether the folder of this worker was taken away, by somebody who runs or finishes the work alone.
    pub fn is_taken_away(&self) -> bool {
        disk::look_at_link(self.temp.path()).is_ok_and(|found| found.is_none())
    }

    /// Removes the folder of a worker that is done; what a killed one leaves goes when the work is published.
    pub fn leave_share(self) {
        let Some(name) = self.temp.path().file_name().and_then(|name| name.to_str()) else {
            return;
        };
        if let (true, Ok(temp)) = (is_worker(name), self.root.enter(TEMP)) {
            drop(temp.remove_all(name));
        }
    }
}
