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
    /// After the corpus, so many of the seeds, which are drawn, and so many mutations.
    Count {
        /// Seeds at most.
        seeds: u32,
        /// Mutations.
        mutations: u32,
    },
    /// After all seeds, and that time.
    Time(Duration),
}

/// The results of a fuzzing campaign against one target.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// Seeds that there are.
    pub seeds: u64,
    /// Seeds that mutations started from.
    pub bases: u64,
    /// Mutations that were tried.
    pub mutations: u64,
    /// The longest that one input took.
    pub slowest: Duration,
    /// Inputs that broke a guarantee: the path to which each was saved, and the error.
    pub broken: Vec<(PathBuf, String)>,
}

/// Replays the seeds of a target, or the corpus and some of them, then tries mutations of them. Broken inputs are kept in `artifacts`, at most ten.
pub fn run(target: &FuzzTarget, seed: u64, until: Until, artifacts: &Path) -> Campaign {
    let seeds = targets::seeds(target.name);
    let mut campaign = Campaign::default();
    let mut random = Random::new(seed);
    match until {
        Until::Count { seeds: few, .. } if (few as usize) < seeds.len() => {
            for file in std::fs::read_dir(targets::corpus(target.name)).expect("a corpus") {
                let bytes = std::fs::read(file.expect("a file").path()).expect("a file of the corpus");
                campaign.one(target, &bytes, artifacts);
            }
            for bytes in (0..few).filter_map(|_| random.pick(&seeds)) {
                campaign.one(target, bytes, artifacts);
            }
        }
        _ => {
            for bytes in &seeds {
                campaign.one(target, bytes, artifacts);
            }
        }
    }
    campaign.seeds = seeds.len() as u64;
    let bases: Vec<&Vec<u8>> = seeds.iter().filter(|bytes| (target.is_base)(bytes)).collect();
    campaign.bases = bases.len() as u64;
    let begun = Instant::now();
    while campaign.broken.len() < 10 {
        let over = match until {
            Until::Count { mutations, .. } => campaign.mutations >= u64::from(mutations),
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
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_default();
        let name: String = blake3::hash(bytes).to_hex().chars().take(16).collect();
        let folder = artifacts.join(target.name);
        std::fs::create_dir_all(&folder).expect("the folder of artifacts");
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("the artifact can be written");
        self.broken.push((path, message));
    }
}
