//! `cargo xtask chaos KILLS [SEED]`: the release binary is killed at random moments, and runs out of disk.
//!
//! Every round must end with the bytes of the undisturbed run and no other file. The seed repeats the corpus and the order of
//! events; how far a run had come when it was killed depends on the machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use chatmill_workshop::chaos::{Ground, Outcomes};

/// The size of the corpus in bytes: several slices.
const MEGABYTES: usize = 14;

/// Runs in a disk of `$1` KiB, then once more after the disk has grown.
const SMALL_DISK: &str = include_str!("small_disk.sh");

pub(crate) fn run(root: &Path, kills: &str, seed: Option<&str>) -> Result<String> {
    let kills: u32 = kills.parse().context("KILLS must be a whole number")?;
    let seed = super::seed(seed)?;
    let binary = binary(root)?;
    eprintln!("seed={seed}");
    let mut ground = Ground::new(&binary, MEGABYTES, seed);
    eprintln!("an undisturbed run takes {} ms", ground.undisturbed.as_millis());
    let mut reported = 0;
    let mut outcomes = ground.campaign(kills, &mut |outcomes| {
        if outcomes.kills >= reported + 50 {
            reported = outcomes.kills;
            eprintln!("{outcomes}");
        }
    });
    let disks = small_disks(&ground, (kills / 10).clamp(3, 20), &mut outcomes)?;
    let printed = format!("seed={seed} {outcomes}\n{disks}");
    if outcomes.holds() {
        return Ok(printed);
    }
    bail!("{printed}\n{}", outcomes.problems.join("\n"))
}

/// Returns the path of the release binary, which is built where it is missing.
fn binary(root: &Path) -> Result<PathBuf> {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let binary = folder
        .join("release")
        .join(format!("chatmill{}", std::env::consts::EXE_SUFFIX));
    if !binary.exists() {
        let built = super::cargo(root)
            .args(["build", "--release", "--package", "chatmill-cli"])
            .status()
            .context("cannot run cargo")?;
        if !built.success() {
            bail!("the release binary cannot be built");
        }
    }
    Ok(binary)
}

/// Runs in disks from far too small to large enough: a full one ends the run with exit code 3, and the same run goes on when there is space.
fn small_disks(ground: &Ground, disks: u32, outcomes: &mut Outcomes) -> Result<String> {
    let probe = Command::new("unshare")
        .args(["-Urm", "mount", "-t", "tmpfs", "none", "/tmp"])
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return Ok("full disk: SKIPPED, this system gives no private mounts (unshare -Urm)".to_owned());
    }
    let largest = ground.dataset_bytes() / 1024 * 5 / 4;
    let mut full = 0;
    for number in 1..=disks {
        let size = largest * u64::from(number) / u64::from(disks);
        let (disk, retained) = (ground.path("disk"), ground.path("kept"));
        std::fs::create_dir_all(&disk)?;
        if retained.exists() {
            std::fs::remove_dir_all(&retained)?;
        }
        std::fs::create_dir_all(&retained)?;
        let output = Command::new("unshare")
            .args(["-Urm", "sh", "-c", SMALL_DISK, "small-disk", &size.to_string()])
            .args([
                disk.as_path(),
                ground.binary(),
                &ground.path("pipeline.toml"),
                &retained,
            ])
            .stdin(Stdio::null())
            .output()
            .context("cannot run unshare")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        match printed.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["3", "absent", "0"] if errors.contains("space") => full += 1,
            ["0", "there", "0"] => {}
            other => outcomes
                .problems
                .push(format!("a disk of {size} KiB: {other:?}: {errors}")),
        }
        ground.compare(&retained.join("out"), outcomes);
    }
    if full == 0 {
        outcomes
            .problems
            .push("no disk was too small: the test proved nothing".to_owned());
    }
    Ok(format!(
        "full disk: {disks} sizes up to {largest} KiB, {full} of them too small at first"
    ))
}
