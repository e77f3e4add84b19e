//! `cargo xtask fuzz SECONDS [SEED]`: mutations of the corpus and the samples, against every target, in release.
//!
//! It needs no nightly toolchain; with one, `cargo +nightly fuzz` is steered by coverage (`fuzz/README.md`). An input that breaks a
//! promise is kept in `fuzz/artifacts`.

use std::fmt::Write;
use std::panic;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use chatmill_workshop::campaign::{self, Until};
use chatmill_workshop::targets::TARGETS;

pub(crate) fn run(root: &Path, seconds: &str, seed: Option<&str>) -> Result<String> {
    let seconds: u64 = seconds.parse().context("SECONDS must be a whole number")?;
    let seed = super::seed(seed)?;
    if cfg!(debug_assertions) {
        return in_release(root, seconds, seed);
    }
    // A broken promise is reported below, once; the message of its panic would only scroll by.
    panic::set_hook(Box::new(|_| {}));
    let artifacts = root.join("fuzz/artifacts");
    let share = Duration::from_secs(seconds) / TARGETS.len() as u32;
    let mut summary = format!("seed={seed}");
    let mut broken = 0;
    for target in TARGETS {
        let campaign = campaign::run(target, seed, Until::Time(share), &artifacts);
        write!(
            summary,
            "\n{:<10} seeds={} bases={} mutations={} slowest={} ms broken={}",
            target.name,
            campaign.seeds,
            campaign.bases,
            campaign.mutations,
            campaign.slowest.as_millis(),
            campaign.broken.len()
        )?;
        for (path, message) in &campaign.broken {
            write!(summary, "\n  {}: {message}", path.display())?;
        }
        broken += campaign.broken.len();
    }
    if broken > 0 {
        bail!("{summary}");
    }
    Ok(summary)
}

fn in_release(root: &Path, seconds: u64, seed: u64) -> Result<String> {
    let status = super::cargo(root)
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "fuzz"])
        .args([seconds.to_string(), seed.to_string()])
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the campaign found something");
    }
    Ok("fuzz: every promise held".to_owned())
}
