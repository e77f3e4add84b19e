//! Unfinished work that many processes do together, on one machine or on several with a shared folder. No process holds a lock.
//!
//! ```text
//! .<name>.staging/<fingerprint>/
//!     plan.json                  the plan of the work, for all workers
//!     lots/<shard>.json          the outcome of a shard, which is then done
//!     lots/<shard>.failed.json   why the last attempt at the shard failed
//!     lots/<shard>.likenesses    the likenesses of its conversations
//!     clusters                   the cluster of each conversation
//!     temp/worker-<random>/      the unfinished files of a worker
//! ```
//!
//! A file gets its name by a rename of a synced one. All workers write the same bytes for a slice, so two workers on
//! the same shard replace each other's files with equal ones. The unfinished files of a killed worker are in its
//! private folder, which is removed with the rest.

use std::path::Path;

use crate::disk::{self, Dir, EntryKind, WorkDir};
use crate::error::DatasetError;
use crate::publish::destination::Destination;
use crate::publish::work::comparison;
use crate::publish::work::names::{
    CLUSTERS, DONE, FAILED, OUTCOMES, PLAN, TEMP, WORKER, is_worker, outcome_name, work_dir_location,
};
use crate::publish::work::staging::Staging;

/// The maximum length of a plan, in bytes: that of two million inputs.
const PLAN_BYTES: u64 = 1 << 30;
/// The maximum length of the outcome of a shard, in bytes.
const OUTCOME_BYTES: u64 = 256 << 20;

/// The outcome of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardOutcome {
    /// The shard is done; its worker wrote these bytes.
    Done(Vec<u8>),
    /// The last attempt failed for this reason.
    Failed(Vec<u8>),
    /// No attempt has ended.
    Missing,
}

/// The planned work of a destination, for reading: nothing is created and no worker is blocked.
#[derive(Debug)]
pub struct PlannedWork {
    destination: Destination,
    work_dir: WorkDir,
    root: Dir,
    fingerprint: String,
    plan: Vec<u8>,
}

/// Finds the planned work of a destination; `None` where nothing is planned.
///
/// # Errors
///
/// Where the folder cannot be used, or holds several plans.
pub fn planned_work(out: &Path) -> Result<Option<PlannedWork>, DatasetError> {
    if disk::stat_target(disk::above(out))?.is_none() {
        return Ok(None);
    }
    let destination = Destination::locate(out)?;
    let Some(work_dir) = work_dir_location(&destination).open()? else {
        return Ok(None);
    };
    let mut found = None;
    for entry in work_dir.dir().list()? {
        if entry.kind != EntryKind::Folder {
            continue;
        }
        let root = work_dir.dir().enter(&entry.name)?;
        if let Some(plan) = root.read_small(PLAN, PLAN_BYTES)? {
            if found.is_some() {
                return Err(DatasetError::wrong_path(
                    work_dir.dir().path(),
                    "it holds several plans; run `chatmill plan` again",
                ));
            }
            found = Some((entry.name, root, plan));
        }
    }
    Ok(found.map(|(fingerprint, root, plan)| PlannedWork {
        destination,
        work_dir,
        root,
        fingerprint,
        plan,
    }))
}

impl PlannedWork {
    /// The plan that all workers read.
    pub fn plan(&self) -> &[u8] {
        &self.plan
    }

    /// The outcome of a shard.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    pub fn shard_outcome(&self, shard: u32) -> Result<ShardOutcome, DatasetError> {
        outcome_of(&self.root, shard)
    }

    /// Whether the likenesses of a shard's conversations have been written.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read.
    pub fn has_likenesses(&self, shard: u32) -> Result<bool, DatasetError> {
        comparison::has_likenesses(&self.root, shard)
    }

    /// Whether the clusters of all conversations have been written.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read.
    pub fn has_clusters(&self) -> Result<bool, DatasetError> {
        Ok(self.root.stat(CLUSTERS)?.is_some())
    }

    /// Joins the work as a worker, with a private folder for its unfinished files.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be used, or another process holds the destination's lock and may remove the
    /// work.
    pub fn join_as_worker(self) -> Result<Staging, DatasetError> {
        let root = self.root;
        let temp = root
            .make(TEMP, disk::PRIVATE_FOLDER)?
            .make(format!("{WORKER}{}", disk::random_digits()), disk::PRIVATE_FOLDER)?;
        let staging = Staging::within(self.destination, self.work_dir, root, temp, &self.fingerprint)?;
        // If a process takes the lock after this check, it removes our folder and we fail. If a process took it before,
        // it may be about to publish the folder that we would write into.
        if let Err(error) = staging.destination.refuse_locked() {
            staging.remove_worker_folder();
            return Err(error);
        }
        Ok(staging)
    }
}

fn outcome_of(root: &Dir, shard: u32) -> Result<ShardOutcome, DatasetError> {
    let Some(shards) = root.find(OUTCOMES)? else {
        return Ok(ShardOutcome::Missing);
    };
    if let Some(outcome) = shards.read_small(&outcome_name(shard, DONE), OUTCOME_BYTES)? {
        return Ok(ShardOutcome::Done(outcome));
    }
    let failure = shards.read_small(&outcome_name(shard, FAILED), OUTCOME_BYTES)?;
    Ok(failure.map_or(ShardOutcome::Missing, ShardOutcome::Failed))
}

impl Staging {
    /// Writes the plan that all workers read.
    pub fn write_plan(&self, plan: &[u8]) -> Result<(), DatasetError> {
        self.root.replace(PLAN, plan, &self.temp)
    }

    /// Marks a shard as done. All its slices must have their receipts.
    pub fn write_shard_outcome(&self, shard: u32, outcome: &[u8]) -> Result<(), DatasetError> {
        self.write_outcome(&outcome_name(shard, DONE), outcome)
    }

    /// Writes why an attempt at a shard failed.
    pub fn write_failure(&self, shard: u32, reason: &[u8]) -> Result<(), DatasetError> {
        self.write_outcome(&outcome_name(shard, FAILED), reason)
    }

    fn write_outcome(&self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        let shards = self.root.make(OUTCOMES, disk::PRIVATE_FOLDER)?;
        shards.replace(name, bytes, &self.temp)
    }

    /// Removes the outcome of a shard, so that it is processed again.
    pub fn remove_shard_outcome(&self, shard: u32) -> Result<(), DatasetError> {
        match self.root.find(OUTCOMES)? {
            Some(shards) => shards.remove_file(outcome_name(shard, DONE)),
            None => Ok(()),
        }
    }

    /// The outcome of a shard.
    pub fn shard_outcome(&self, shard: u32) -> Result<ShardOutcome, DatasetError> {
        outcome_of(&self.root, shard)
    }

    /// Whether a process that runs or finishes the work alone has removed the folder of this worker.
    pub fn is_taken_away(&self) -> bool {
        disk::stat_link(self.temp.path()).is_ok_and(|found| found.is_none())
    }

    /// Removes the folder of a worker that is done; the folder of a killed worker is removed when the work is published.
    pub fn remove_worker_folder(self) {
        let Some(name) = self.temp.path().file_name().and_then(|name| name.to_str()) else {
            return;
        };
        if let (true, Ok(temp)) = (is_worker(name), self.root.enter(TEMP)) {
            drop(temp.remove_all(name));
        }
    }
}
