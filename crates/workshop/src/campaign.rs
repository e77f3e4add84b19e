//! A fuzzing campaign inside the process: mutations of the seeds, each in a net, findings kept as files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::targets::{self, FuzzTarget};
use chatmill_drawn::Random;
use chatmill_testkit::mutate::mutate;

/// When a campaign against one target ends.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After that many mutations.
    Count(u64),
    /// After that time.
    Time(Duration),
}

/// What a campaign against one target saw.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// Seeds that were replayed as they are.
    pub seeds: u64,
    /// Seeds that mutations started from.
    pub bases: u64,
    /// Mutations that were tried.
    pub mutations: u64,
    /// The longest that one input took.
    pub slowest: Duration,
    /// Inputs that broke a promise: where they were kept, and what was said.
    pub broken: Vec<(PathBuf, String)>,
}

/// Replays the seeds of a target, then tries mutations of them. Broken inputs are kept in `artifacts`, at most ten.
pub fn run(target: &FuzzTarget, seed: u64, until: Until, artifacts: &Path) -> Campaign {
    let seeds = targets::seeds(target.name);
    let mut campaign = Campaign::default();
    for bytes in &seeds {
        campaign.seeds += 1;
        campaign.one(target, bytes, artifacts);
    }
    let bases: Vec<&Vec<u8>> = seeds.iter().filter(|bytes| (target.is_base)(bytes)).collect();
    campaign.bases = bases.len() as u64;
    let begun = Instant::now();
    let mut random = Random::new(seed);
    while campaign.broken.len() < 10 {
        let over = match until {
            Until::Count(count) => campaign.mutations >= count,
            Until::Time(time) => begun.elapsed() >= time,
        };
        if over {
            break;
        }
        let Some(base) = random.pick(&bases) else {
            break;
        };
        // Large samples cost much and break nothing that small ones do not.
        if base.len() > 16 * 1024 && !random.once_in(20) {
            continue;
        }
        campaign.mutations += 1;
        campaign.one(target, &mutate(base, &seeds, &mut random), artifacts);
    }
    campaign
}

impl Campaign {
    fn one(&mut self, target: &FuzzTarget, bytes: &[u8], artifacts: &Path) {
        let begun = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| (target.body)(bytes)));
        self.slowest = self.slowest.max(begun.elapsed());
        let Err(panic) = result else {
            return;
        };
        let said = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default();
        let name: String = blake3::hash(bytes).to_hex().chars().take(16).collect();
        let folder = artifacts.join(target.name);
        std::fs::create_dir_all(&folder).expect("the folder of artifacts");
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("the artifact can be written");
        self.broken.push((path, said));
    }
}
