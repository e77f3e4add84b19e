//! A fuzzing campaign inside the process: mutations of the seeds, with panics caught and failing inputs kept as files.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::targets::{self, FuzzTarget};
use chatmill_drawn::Random;
use chatmill_testkit::mutate::mutate;

/// The end of a campaign against one target.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// After the corpus, a number of random seeds, and a number of mutations.
    Count {
        /// The most seeds.
        seeds: u32,
        /// The number of mutations.
        mutations: u32,
    },
    /// After all seeds, and this time.
    Time(Duration),
}

/// The results of a fuzzing campaign against one target.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// The number of seeds.
    pub seeds: u64,
    /// The number of seeds that mutations started from.
    pub bases: u64,
    /// The number of mutations that were tried.
    pub mutations: u64,
    /// The longest time that one input took.
    pub slowest: Duration,
    /// Inputs that broke a guarantee: the path of each saved input, and the error.
    pub broken: Vec<(PathBuf, String)>,
}

/// Replays the seeds of a target, or its corpus and some of them, then tries mutations. Inputs that break a guarantee are saved in
/// `artifacts`; the campaign stops at ten.
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
        // Large samples cost much and find nothing that small ones do not find.
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
