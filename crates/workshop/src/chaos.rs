//! The proof of resuming: runs are killed at random moments, their unfinished work is damaged, and the final dataset is always the same.
//!
//! The command itself is run, not its library, since a kill must end a process. The moment of a kill is drawn as progress of the work, not
//! as a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::corpus;
use crate::test_dir::TestDir;
use chatmill_drawn::Random;

/// The most kills in one round, so that every round ends.
const KILLS_PER_ROUND: u32 = 5;

/// The pause between two looks at a working process.
const NAP: Duration = Duration::from_millis(2);

/// The size of a shard of the small corpus, in bytes.
pub const SMALL_SHARD: usize = 20_000;

/// Writes a third of a megabyte into `in/`: three files of lines with two shards of [`SMALL_SHARD`] each, and a zip, which is one shard.
pub fn small_corpus(test_dir: &TestDir, seed: u64) {
    corpus::write(test_dir, 1, seed);
    std::fs::remove_file(test_dir.path("in/d.jsonl.gz")).expect("a file of the corpus");
    for name in ["in/a.jsonl", "in/b.jsonl", "in/deeper/c.jsonl"] {
        let text = std::fs::read_to_string(test_dir.path(name)).expect("a file of the corpus");
        let mut part = String::new();
        for line in text.split_inclusive('\n') {
            if part.len() + line.len() > 2 * SMALL_SHARD {
                break;
            }
            part.push_str(line);
        }
        test_dir.write(name, part);
    }
}

/// Polls a process until `is_so`, and returns whether that happened before it ended.
///
/// Every wait for a state uses this function, so that the speed of a machine decides nothing.
pub fn watch(process: &mut Child, mut is_so: impl FnMut() -> bool) -> bool {
    loop {
        if is_so() {
            return true;
        }
        if process.try_wait().expect("a process of ours").is_some() {
            return false;
        }
        std::thread::sleep(NAP);
    }
}

/// The number of files below a folder. It measures the progress of a run as well as a clock does, and is the same on every machine.
pub fn grown(folder: &Path) -> usize {
    files(folder).len()
}

/// A corpus, a pipeline over it, and the dataset that an undisturbed run makes from it.
pub struct Ground {
    test_dir: TestDir,
    binary: PathBuf,
    random: Random,
    reference: BTreeMap<String, String>,
    records: u64,
    /// The duration of the undisturbed run.
    pub undisturbed: Duration,
}

/// The results of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    /// The number of datasets that were finished.
    pub rounds: u32,
    /// The number of runs that were killed while they worked.
    pub kills: u32,
    /// The number of kills that left finished slices or unfinished files, from which the next run continued.
    pub with_work_left: u32,
    /// The number of files of unfinished work that were damaged between a kill and the next run.
    pub corrupted: u32,
    /// The number of rounds in which a finished dataset of another plan was replaced.
    pub replaced: u32,
    /// The number of nights of stores that were finished, killed before or not.
    pub nights: u32,
    /// The number of records that finished datasets have less or more than the undisturbed one.
    pub lost: u64,
    /// The number of certified files that are missing or have other bytes.
    pub differing: u64,
    /// The failures, as sentences.
    pub problems: Vec<String>,
}

impl fmt::Display for Outcomes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rounds,
            kills,
            with_work_left,
            corrupted,
            replaced,
            nights,
            lost,
            differing,
            problems,
        } = self;
        write!(
            out,
            "kills={kills} lost={lost} differing={differing} faults={} ",
            problems.len()
        )?;
        write!(
            out,
            "rounds={rounds} resumed={with_work_left} damaged={corrupted} replaced={replaced} nights={nights}"
        )
    }
}

impl Outcomes {
    /// Whether every round ended with the undisturbed run's bytes, and with no other files.
    pub fn holds(&self) -> bool {
        self.lost == 0 && self.differing == 0 && self.problems.is_empty()
    }
}

impl Ground {
    /// Writes a corpus of several slices and makes the reference dataset with `binary`.
    pub fn new(binary: &Path, megabytes: usize, seed: u64) -> Self {
        let test_dir = TestDir::new();
        corpus::write(&test_dir, megabytes, seed);
        Self::of(test_dir, "", binary, seed)
    }

    /// The same with a small corpus of several shards.
    pub fn small(binary: &Path, seed: u64) -> Self {
        let test_dir = TestDir::new();
        small_corpus(&test_dir, seed);
        Self::of(
            test_dir,
            &format!("[shards]\nbytes = {SMALL_SHARD}\n"),
            binary,
            seed,
        )
    }

    fn of(test_dir: TestDir, shard_settings: &str, binary: &Path, seed: u64) -> Self {
        let pipeline = "name = \"chaos\"\n[[input]]\npath = \"in/**\"\n[render]\ndialects = [\"group-chat\", \"gryag-compact\"]\n\
             [count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\nmax_error_findings = 1_000_000\n[output]\npath = \"unused\"\n";
        test_dir.write("pipeline.toml", format!("{pipeline}{shard_settings}"));
        // A copy: a build at the same time must not change the program under test.
        let own = test_dir.path("chatmill");
        std::fs::copy(binary, &own).expect("the program can be copied");
        let mut ground = Self {
            test_dir,
            binary: own,
            random: Random::new(seed),
            reference: BTreeMap::new(),
            records: 0,
            undisturbed: Duration::ZERO,
        };
        let out = ground.path("reference/out");
        let begun = Instant::now();
        let code = ground.start(&out, 2, &[]).wait().expect("the run ends").code();
        ground.undisturbed = begun.elapsed();
        assert_eq!(code, Some(0), "the undisturbed run: {}", ground.printed());
        ground.reference = hashes(&out);
        ground.records = records(&out);
        let parts = ground
            .reference
            .keys()
            .filter(|name| name.starts_with("messages/"))
            .count();
        assert!(
            ground.records > 0 && parts > 1,
            "the corpus must give several slices, not {parts}"
        );
        // The dataset that `--replace` is tested on.
        let old = ground.path("old/out");
        let code = ground
            .start(&old, 2, &["--limit", "20"])
            .wait()
            .expect("the run ends")
            .code();
        assert_eq!(code, Some(0), "the old run: {}", ground.printed());
        ground
    }

    /// A path in the ground's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.test_dir.path(name)
    }

    /// The program that is run.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The size of the reference dataset, in bytes.
    pub fn dataset_bytes(&self) -> u64 {
        let root = self.path("reference/out");
        files(&root)
            .iter()
            .map(|name| std::fs::metadata(root.join(name)).expect("a file").len())
            .sum()
    }

    /// The command that runs the pipeline.
    pub fn command(&self, out: &Path, threads: usize) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .arg("run")
            .arg(self.path("pipeline.toml"))
            .arg("--out")
            .arg(out);
        command.arg("--quiet").arg("--threads").arg(threads.to_string());
        command
    }

    fn start(&self, out: &Path, threads: usize, more: &[&str]) -> Child {
        std::fs::create_dir_all(out.parent().expect("a parent")).expect("the folder can be made");
        let mut command = self.command(out, threads);
        self.spawn(command.args(more))
    }

    fn spawn(&self, command: &mut Command) -> Child {
        let log = std::fs::File::create(self.path("stderr")).expect("a log");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the command can be started")
    }

    fn printed(&self) -> String {
        std::fs::read_to_string(self.path("stderr")).unwrap_or_default()
    }

    /// Rounds of killed, damaged and resumed runs until `kills` runs were killed.
    pub fn campaign(&mut self, kills: u32, progress: &mut dyn FnMut(&Outcomes)) -> Outcomes {
        let mut outcomes = Outcomes::default();
        while outcomes.kills < kills && outcomes.problems.len() < 10 {
            self.round(kills, &mut outcomes);
            progress(&outcomes);
            if outcomes.kills < kills && (outcomes.nights == 0 || self.random.once_in(4)) {
                self.round_of_nights(kills, &mut outcomes);
                progress(&outcomes);
            }
        }
        outcomes
    }

    fn round(&mut self, kills: u32, outcomes: &mut Outcomes) {
        let folder = self.path("round");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("the last round can be removed");
        }
        let out = folder.join("out");
        let replace = self.random.once_in(4);
        if replace {
            copy(&self.path("old/out"), &out);
            outcomes.replaced += 1;
        }
        let more: &[&str] = if replace { &["--replace"] } else { &[] };
        let mut killed = 0;
        loop {
            let threads = 1 + self.random.below(4);
            let mut run = self.start(&out, threads, more);
            let is_spared =
                outcomes.kills >= kills || killed >= KILLS_PER_ROUND || killed > 0 && self.random.once_in(4);
            if !is_spared {
                self.let_work(&mut run, &folder);
                // Killing a run that has already ended does nothing.
                run.kill().expect("the run can be killed");
            }
            let status = run.wait().expect("the run ends");
            match status.code() {
                Some(0) => break,
                None if !is_spared => {}
                _ => {
                    outcomes
                        .problems
                        .push(format!("a run ended with {status}: {}", self.printed()));
                    return;
                }
            }
            killed += 1;
            outcomes.kills += 1;
            self.check_between(&out, replace, outcomes);
            let staging = folder.join(".out.staging");
            // The process that removes this mark is the owner of the folder.
            let of_the_run = |name: &String| name != ".chatmill-staging";
            let left: Vec<String> = files(&staging).into_iter().filter(of_the_run).collect();
            if !left.is_empty() {
                outcomes.with_work_left += 1;
                if self.random.once_in(3) {
                    self.corrupt(&staging, &left);
                    outcomes.corrupted += 1;
                }
            }
        }
        outcomes.rounds += 1;
        self.compare(&out, outcomes);
        if self.random.once_in(4) {
            let status = self.start(&out, 1, &[]).wait().expect("the run ends");
            if !status.success() {
                outcomes.problems.push(format!(
                    "a run on the finished dataset ended with {status}: {}",
                    self.printed()
                ));
            }
            self.compare(&out, outcomes);
        }
    }

    /// Two nights of a store, killed like runs: each continues under its name, the first is never lost to the second, and both contain the
    /// dataset of the undisturbed run.
    fn round_of_nights(&mut self, kills: u32, outcomes: &mut Outcomes) {
        const NIGHTS: [(&str, &str); 2] = [
            ("2026-11-01T02:15:00Z", "2026-11-01T021500Z"),
            ("2026-11-02T02:15:00Z", "2026-11-02T021500Z"),
        ];
        let store = self.path("round/nights");
        if store.exists() {
            std::fs::remove_dir_all(&store).expect("the last store can be removed");
        }
        let mut good: Vec<&str> = Vec::new();
        for (at, name) in NIGHTS {
            let mut killed = 0;
            loop {
                let threads = 1 + self.random.below(4);
                let mut command = Command::new(&self.binary);
                command.arg("night").arg(self.path("pipeline.toml"));
                command
                    .arg("--store")
                    .arg(&store)
                    .args(["--at", at, "--quiet", "--threads"]);
                let mut night = self.spawn(command.arg(threads.to_string()));
                let is_spared = outcomes.kills >= kills
                    || killed >= KILLS_PER_ROUND
                    || killed > 0 && self.random.once_in(3);
                if !is_spared {
                    self.let_work(&mut night, &store);
                    night.kill().expect("the night can be killed");
                }
                let status = night.wait().expect("the night ends");
                match status.code() {
                    Some(0) => break,
                    None if !is_spared => {}
                    _ => {
                        let printed = self.printed();
                        outcomes
                            .problems
                            .push(format!("the night {name} ended with {status}: {printed}"));
                        return;
                    }
                }
                killed += 1;
                outcomes.kills += 1;
                if let Some(first) = good.first() {
                    self.compare_certified(&store.join(first).join("dataset"), outcomes);
                }
                // The signal came after the end of the work: another call would run another night.
                if is_settled(&store, name) {
                    break;
                }
            }
            good.push(name);
            outcomes.nights += 1;
            let latest = std::fs::read_link(store.join("latest")).ok();
            if latest.as_deref() != Some(Path::new(name)) {
                outcomes
                    .problems
                    .push(format!("`latest` leads to {latest:?} after {name}"));
            }
            for night in &good {
                self.compare_certified(&store.join(night).join("dataset"), outcomes);
            }
        }
        let entries = std::fs::read_dir(&store).expect("the store is there");
        let names: BTreeSet<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let derived = [
            ".chatmill-nights",
            "history.parquet",
            "latest",
            "metrics.prom",
            "nights.html",
            "records",
        ];
        let known: BTreeSet<String> = derived
            .iter()
            .chain(&good)
            .map(|name| (*name).to_owned())
            .collect();
        if names != known {
            outcomes
                .problems
                .push(format!("a store of two nights contains {names:?}"));
        }
    }

    /// Compares the certified files of a night's dataset with the reference; its reports are left out, since they also compare it with the
    /// night before.
    fn compare_certified(&self, out: &Path, outcomes: &mut Outcomes) {
        let is_report = |name: &str| matches!(name, "report.html" | "report.json" | "README.md");
        let found = hashes(out);
        let certified = self.reference.iter().filter(|(name, _)| !is_report(name));
        let differing = certified.filter(|(name, hash)| found.get(*name) != Some(*hash));
        outcomes.differing += differing.count() as u64;
        outcomes.lost += records(out).abs_diff(self.records);
    }

    /// Waits for a moment in the run: until `folder` has some more files, and for a few looks after that. The first and the last steps are
    /// short, so they are chosen more often than their duration would give.
    fn let_work(&mut self, run: &mut Child, folder: &Path) {
        let whole = self.reference.len();
        let more = match self.random.below(4) {
            0 => self.random.below(whole / 5),
            1 => whole * 4 / 5 + self.random.below(whole / 3),
            _ => self.random.below(whole),
        };
        let enough = grown(folder) + more;
        let eighth = (self.undisturbed / 8).as_micros() / NAP.as_micros();
        let mut checks = self.random.below(1 + eighth as usize);
        watch(run, || {
            let is_far = grown(folder) >= enough;
            let is_now = is_far && checks == 0;
            checks -= usize::from(is_far && checks > 0);
            is_now
        });
    }

    /// After a kill the destination contains the old dataset, the new one, or nothing: never part of one.
    fn check_between(&self, out: &Path, replace: bool, outcomes: &mut Outcomes) {
        let found = hashes(out);
        let is_right = found == self.reference
            || if replace {
                found == hashes(&self.path("old/out"))
            } else {
                !out.exists()
            };
        if !is_right {
            outcomes.problems.push(format!(
                "a kill left something other than one of the datasets or nothing: {:?}",
                files(out)
            ));
        }
    }

    /// Truncates, flips, empties, lengthens or deletes one file of unfinished work.
    fn corrupt(&mut self, staging: &Path, left: &[String]) {
        let Some(name) = self.random.pick(left).cloned() else {
            return;
        };
        let path = staging.join(name);
        let mut bytes = std::fs::read(&path).expect("a staged file");
        let at = self.random.below(bytes.len());
        match self.random.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.clear(),
            2 => bytes.extend(b"more"),
            3 => return std::fs::remove_file(&path).expect("a staged file can be deleted"),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.random.below(8);
                }
            }
        }
        std::fs::write(&path, bytes).expect("a staged file can be damaged");
    }

    /// Compares a finished dataset, and the other files in its folder, with the reference.
    pub fn compare(&self, out: &Path, outcomes: &mut Outcomes) {
        let found = hashes(out);
        let differing = self
            .reference
            .iter()
            .filter(|(name, hash)| found.get(*name) != Some(*hash))
            .count();
        outcomes.differing += differing as u64;
        for name in found.keys().filter(|name| !self.reference.contains_key(*name)) {
            outcomes.problems.push(format!(
                "{name} is in the dataset, and not in the undisturbed one"
            ));
        }
        outcomes.lost += records(out).abs_diff(self.records);
        let mut beside = files(out.parent().expect("a parent"));
        beside.retain(|name| !name.starts_with("out/"));
        if !beside.is_empty() || out.with_file_name(".out.staging").exists() {
            outcomes
                .problems
                .push(format!("left next to the dataset: {beside:?}"));
        }
    }
}

/// Whether a night is booked, and everything that follows from it is done.
fn is_settled(store: &Path, night: &str) -> bool {
    let record = store.join("records").join(format!("{night}.json"));
    std::fs::read_to_string(record).is_ok_and(|text| text.contains("\"is_settled\": true"))
}

/// The files below a folder, by their path in it; empty if the folder does not exist.
fn files(root: &Path) -> BTreeSet<String> {
    fn walk(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else {
                found.insert(name);
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(root, "", &mut found);
    found
}

/// The hashes of all files of a dataset except `run.json`, which differs between runs, and the record with its hash. The page's line with
/// the time of the run is left out.
fn hashes(root: &Path) -> BTreeMap<String, String> {
    let hash = |name: &String| {
        let mut bytes = std::fs::read(root.join(name)).expect("a file of the dataset");
        if name == "report.html" {
            let page = String::from_utf8(bytes).expect("a page");
            let lines = page
                .lines()
                .filter(|line| !line.starts_with("<p class=\"when\">"));
            bytes = lines.collect::<Vec<_>>().join("\n").into_bytes();
        }
        blake3::hash(&bytes).to_hex().to_string()
    };
    let names = files(root)
        .into_iter()
        .filter(|name| name != "run.json" && name != chatmill_dataset::RECORD);
    names.map(|name| (name.clone(), hash(&name))).collect()
}

/// The number of records in a dataset's accounts; 0 if it cannot be read.
fn records(root: &Path) -> u64 {
    chatmill_dataset::read_manifest(root)
        .map(|manifest| {
            manifest
                .inputs
                .iter()
                .map(|input| input.accepted + input.rejected)
                .sum()
        })
        .unwrap_or_default()
}

fn copy(from: &Path, to: &Path) {
    for name in files(from) {
        let target = to.join(&name);
        std::fs::create_dir_all(target.parent().expect("a parent")).expect("the folder can be made");
        std::fs::copy(from.join(&name), target).expect("the file can be copied");
    }
}
