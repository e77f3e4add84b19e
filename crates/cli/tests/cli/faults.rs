//! Disturbances of a run: other runs, bad destinations, full disks, signals, unusual environments. The real program is run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use chatmill_workshop::TestDir;
use chatmill_workshop::chaos::{SMALL_SHARD, small_corpus};

use crate::caught::Caught;
use crate::test_dir::{binary, good_chat};

/// Chats with every peculiarity, and the result of an undisturbed run.
struct Undisturbed {
    inputs: BTreeMap<String, Vec<u8>>,
    hashes: BTreeMap<String, String>,
    /// The number of bytes of its largest file.
    largest: u64,
}

static UNDISTURBED: LazyLock<Undisturbed> = LazyLock::new(|| {
    let shop = TestDir::new();
    small_corpus(&shop, 11);
    pipeline_in_lots(&shop);
    assert_eq!(code(&run(&shop, &["--out", "alone"])), 0);
    let root = shop.path("");
    let inputs = listing(&shop.path("in")).into_iter();
    let inputs = inputs.filter(|(path, _)| path.is_file()).map(|(path, bytes)| {
        let name = path.strip_prefix(&root).unwrap();
        (name.to_str().unwrap().to_owned(), bytes)
    });
    let written = listing(&shop.path("alone")).into_values();
    Undisturbed {
        inputs: inputs.collect(),
        hashes: shop.hashes("alone"),
        largest: written.map(|bytes| bytes.len() as u64).max().unwrap(),
    }
});

/// A test folder with chats for several shards, and a pipeline that writes to `out`.
pub(crate) fn large() -> TestDir {
    let shop = TestDir::new();
    for (name, bytes) in &UNDISTURBED.inputs {
        shop.write(name, bytes);
    }
    pipeline_in_lots(&shop);
    shop
}

fn pipeline_in_lots(shop: &TestDir) {
    pipeline(shop);
    let text = fs::read_to_string(shop.path("pipeline.toml")).unwrap();
    shop.write(
        "pipeline.toml",
        format!("{text}[shards]\nbytes = {SMALL_SHARD}\n"),
    );
}

/// A test folder with two small files.
fn small() -> TestDir {
    let shop = TestDir::new();
    shop.write("in/a.json", good_chat("a").to_string());
    shop.write("in/b.jsonl", format!("{}\n{}\n", good_chat("b"), good_chat("c")));
    pipeline(&shop);
    shop
}

pub(crate) fn pipeline(shop: &TestDir) {
    shop.write(
        "pipeline.toml",
        "name = \"faults\"\n[[input]]\npath = \"in/**\"\n[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n\
         [limits]\nmax_reject_ratio = 1.0\nmax_error_findings = 1_000_000\n[output]\npath = \"out\"\n",
    );
}

fn command(shop: &TestDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .current_dir(shop.path(""))
        .stdin(Stdio::null());
    command
}

fn run(shop: &TestDir, arguments: &[&str]) -> Output {
    command(shop, &[&["run", "pipeline.toml"], arguments].concat())
        .output()
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output
        .status
        .code()
        .unwrap_or_else(|| panic!("it was killed: {output:?}"))
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything below a folder: the bytes of files, and the targets of links.
fn listing(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            found.insert(
                path.clone(),
                fs::read_link(&path)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
                    .into_bytes(),
            );
        } else if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(listing(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

/// A run with one thread that is stopped in the middle of its work.
fn working(shop: &TestDir) -> Caught {
    Caught::amid(&shop.path(""), || {
        drop(fs::remove_dir_all(shop.path("out")));
        command(shop, &["run", "pipeline.toml", "--quiet", "--threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    })
}

#[test]
fn of_two_runs_on_one_destination_one_works_and_the_other_names_the_lock() {
    let shop = large();
    // A stopped run keeps its lock.
    let first = working(&shop);
    for _ in 0..2 {
        let second = run(&shop, &[]);
        assert_eq!(code(&second), 3, "{}", said(&second));
        assert!(said(&second).contains(".out.lock"), "{}", said(&second));
    }
    assert_eq!(first.goes_on().code(), Some(0));
    assert_eq!(shop.hashes("out"), UNDISTURBED.hashes);
    assert_eq!(code(&command(&shop, &["certify", "out"]).output().unwrap()), 0);
}

#[test]
fn a_killed_run_leaves_no_lock_behind() {
    let shop = large();
    working(&shop).killed();
    assert!(!shop.path("out").exists());
    let second = run(&shop, &[]);
    assert_eq!(code(&second), 0, "{}", said(&second));
    assert_eq!(shop.hashes("out"), UNDISTURBED.hashes);
}

#[test]
fn a_run_that_is_stopped_by_a_signal_ends_later_with_the_same_bytes() {
    let shop = large();
    for (name, expected) in [("-TERM", 143), ("-INT", 130)] {
        let stopped = working(&shop);
        stopped.signal(name);
        assert_eq!(stopped.goes_on().code(), Some(expected));
        assert!(!shop.path("out").exists(), "nothing is published before the end");
    }
    let last = run(&shop, &["--threads", "2"]);
    assert_eq!(code(&last), 0, "{}", said(&last));
    assert_eq!(shop.hashes("out"), UNDISTURBED.hashes);
    assert!(
        !shop.path(".out.staging").exists(),
        "unfinished work is cleared away"
    );
}

#[test]
fn a_destination_that_cannot_hold_a_dataset_is_refused_and_left_alone() {
    type Prepare = fn(&TestDir);
    let cases: [(&str, &str, Prepare); 5] = [
        ("a file", "out", |shop| {
            shop.write("out", "mine");
        }),
        ("a dangling link", "out", |shop| {
            symlink("nowhere", shop.path("out")).unwrap();
        }),
        ("a stranger's file", "out", |shop| {
            shop.write("out/diary.txt", "mine");
        }),
        ("a stranger's hidden file", "out", |shop| {
            shop.write("out/.diary", "mine");
        }),
        ("below a file", "note/out", |shop| {
            shop.write("note", "mine");
        }),
    ];
    for (what, out, prepare) in cases {
        for more in [&[][..], &["--replace"]] {
            let shop = small();
            prepare(&shop);
            let before = listing(&shop.path(""));
            let refused = run(&shop, &[&["--out", out], more].concat());
            assert_eq!(code(&refused), 2, "{what}: {}", said(&refused));
            assert!(
                said(&refused).contains(out.split('/').next().unwrap()),
                "{what}: {}",
                said(&refused)
            );
            let after = listing(&shop.path(""));
            assert!(before == after, "{what}: {:?}", after.keys());
        }
    }
}

#[test]
fn a_read_only_folder_is_refused_before_any_work() {
    let shop = small();
    let folder = shop.path("shut");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        eprintln!("SKIPPED: this user may write into read-only folders");
        return;
    }
    let refused = run(&shop, &["--out", "shut/out"]);
    assert_eq!(code(&refused), 2, "{}", said(&refused));
    assert!(said(&refused).contains("shut"), "{}", said(&refused));
    assert!(listing(&folder).is_empty());
}

const CONVERT: [&str; 8] = [
    "convert",
    "in",
    "--to",
    "openai-chat",
    "--threads",
    "1",
    "--set",
    "shards.bytes=20000",
];

fn convert(shop: &TestDir, out: &str) -> Command {
    command(shop, &[&CONVERT[..], &["--quiet", "--out", out]].concat())
}

/// The files of a folder by their names.
fn files(shop: &TestDir, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = shop.path(folder);
    let files = listing(&root).into_iter();
    let below = |path: PathBuf| path.strip_prefix(&root).unwrap().to_owned();
    files.map(|(path, bytes)| (below(path), bytes)).collect()
}

/// A conversion to `cv` that is stopped in the middle of its work.
fn converting(shop: &TestDir) -> Caught {
    Caught::amid(&shop.path(""), || {
        drop(fs::remove_dir_all(shop.path("cv")));
        let (out, err) = (Stdio::null(), Stdio::null());
        convert(shop, "cv").stdout(out).stderr(err).spawn().unwrap()
    })
}

#[test]
fn of_two_conversions_to_one_folder_one_works_and_the_other_touches_nothing() {
    let shop = large();
    let usual = convert(&shop, "alone").output().unwrap().status.code();
    let first = converting(&shop);
    let before = listing(&shop.path(""));
    for _ in 0..2 {
        let second = convert(&shop, "cv").output().unwrap();
        assert_eq!(code(&second), 3, "{}", said(&second));
        let words = "another run uses ";
        assert!(
            said(&second).contains(words) && said(&second).contains(".cv.lock"),
            "{}",
            said(&second)
        );
    }
    assert!(listing(&shop.path("")) == before);
    assert_eq!(first.goes_on().code(), usual);
    assert!(files(&shop, "cv") == files(&shop, "alone"));
    assert!(!shop.path(".cv.dataset").exists() && !shop.path(".cv.unfinished").exists());
}

#[test]
fn a_conversion_that_was_killed_is_repeated_and_a_dataset_of_that_name_stays() {
    let shop = large();
    let usual = convert(&shop, "alone").output().unwrap().status.code();
    converting(&shop).killed();
    assert!(shop.path(".cv.dataset").exists());
    assert_eq!(convert(&shop, "cv").output().unwrap().status.code(), usual);
    assert!(files(&shop, "cv") == files(&shop, "alone"));
    assert!(!shop.path(".cv.dataset").exists() && !shop.path(".cv.unfinished").exists());
    // A folder that a user keeps.
    assert_eq!(code(&run(&shop, &["--out", ".kept.dataset"])), 0);
    let refused = convert(&shop, "kept").output().unwrap();
    assert_eq!(code(&refused), 2, "{}", said(&refused));
    assert!(said(&refused).contains(".kept.dataset"), "{}", said(&refused));
    assert_eq!(shop.hashes(".kept.dataset"), UNDISTURBED.hashes);
}

#[test]
fn an_export_that_was_killed_leaves_nothing_that_the_next_one_does_not_remove() {
    let shop = large();
    assert_eq!(code(&run(&shop, &[])), 0);
    let left = [".ex.lock", ".list.lock", ".list.0123456789abcdef.new"];
    for name in left {
        shop.write(name, "");
    }
    let words = [
        "export",
        "out",
        "--dialect",
        "group-chat",
        "--format",
        "jsonl",
        "--out",
        "ex",
        "--dropped",
        "list",
    ];
    let ended = command(&shop, &words).output().unwrap();
    assert_eq!(code(&ended), 0, "{}", said(&ended));
    assert!(shop.path("list").is_file());
    assert!(left.iter().all(|name| !shop.path(name).exists()));
}

/// A command with a limit of so many blocks of 512 bytes for the size of files.
fn limited(shop: &TestDir, blocks: u64, arguments: &[&str]) -> Output {
    let limit = [
        "-c",
        "ulimit -f \"$0\"; exec \"$@\"",
        &blocks.to_string(),
        binary(),
    ];
    let mut command = Command::new("sh");
    command
        .args([&limit[..], arguments].concat())
        .current_dir(shop.path(""));
    command.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_full_disk_is_told_with_what_stays_of_the_work() {
    let shop = large();
    assert_eq!(code(&run(&shop, &["--out", "whole"])), 0);
    let names = || listing(&shop.path("")).into_keys().collect::<Vec<_>>();
    let before = names();
    let export = [
        "export",
        "whole",
        "--dialect",
        "group-chat",
        "--format",
        "jsonl",
        "--out",
        "ex",
    ];
    for words in [&export[..], &[&CONVERT[..], &["--out", "cv"]].concat()] {
        let ended = limited(&shop, 40, words);
        assert_eq!(code(&ended), 3, "{}", said(&ended));
        let told = said(&ended);
        assert!(told.contains("no space left") && !told.contains("kept"), "{told}");
        assert_eq!(names(), before);
    }
    let ended = limited(&shop, 40, &["run", "pipeline.toml", "-q"]);
    assert!(said(&ended).contains("finished work is kept"), "{}", said(&ended));
    assert!(shop.path(".out.staging").exists());
}

#[test]
fn a_file_size_limit_ends_the_run_and_without_it_the_run_goes_on() {
    let shop = large();
    // Numbers of blocks of 512 bytes: one that ends the run soon, and one that only the largest file exceeds.
    let most = UNDISTURBED.largest.div_ceil(512) - 1;
    assert!(most > 40);
    for blocks in [40, most] {
        let limited = limited(&shop, blocks, &["run", "pipeline.toml", "-q"]);
        assert_eq!(code(&limited), 3, "{}", said(&limited));
        assert!(said(&limited).contains("no space left"), "{}", said(&limited));
        assert!(!shop.path("out").exists());
    }
    let last = run(&shop, &[]);
    assert_eq!(code(&last), 0, "{}", said(&last));
    assert_eq!(shop.hashes("out"), UNDISTURBED.hashes);
}

#[test]
fn a_full_standard_output_is_an_error() {
    if !Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: this system has no /dev/full");
        return;
    }
    let shop = small();
    shop.write("in/broken.jsonl", format!("{}\n{{broken\n", good_chat("d")));
    for arguments in [
        &["check", "in/a.json"][..],
        &["check", "in", "--format", "jsonl"],
        &["render", "in/a.json", "--dialect", "openai-chat"],
        &["inspect", "in/a.json"],
        &["dialects"],
        &["rules", "--format", "json"],
        &["explain", "--all"],
        &["run", "pipeline.toml"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = command(&shop, arguments)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(code(&ended), 3, "{arguments:?}: {}", said(&ended));
        assert!(
            said(&ended).starts_with("error: "),
            "{arguments:?}: {}",
            said(&ended)
        );
    }
}

#[test]
fn neither_folder_nor_spelling_nor_surroundings_change_a_byte() {
    let shop = small();
    assert_eq!(code(&run(&shop, &[])), 0);
    let expected = shop.hashes("out");
    let whole = shop.path("");
    let whole = whole.to_str().unwrap().trim_end_matches('/');
    let out = |name: &str| shop.path(name).to_str().unwrap().to_owned();
    fs::create_dir(shop.path("else")).unwrap();

    let mut elsewhere = Command::new(binary());
    elsewhere
        .args(["run", "../pipeline.toml", "--out", &out("one")])
        .current_dir(shop.path("else"));
    let mut absolute = Command::new(binary());
    absolute
        .args(["run", &format!("{whole}/./pipeline.toml"), "--out", "two/../two"])
        .current_dir(whole);
    let mut odd = Command::new("sh");
    odd.args([
        "-c",
        "umask 077; exec \"$0\" run pipeline.toml --out three",
        binary(),
    ]);
    odd.current_dir(whole)
        .env("TZ", "Pacific/Kiritimati")
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("LANG", "zh_CN.GB18030");
    for (name, mut command) in [("one", elsewhere), ("two", absolute), ("three", odd)] {
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(code(&output), 0, "{name}: {}", said(&output));
        assert_eq!(shop.hashes(name), expected, "{name}");
    }
    for (name, path) in [
        ("four", format!("{whole}/in/**")),
        ("five", "./in/**".to_owned()),
        ("six", format!("{whole}/else/../in/**")),
    ] {
        let text = fs::read_to_string(shop.path("pipeline.toml"))
            .unwrap()
            .replace("in/**", &path);
        shop.write("spelled.toml", text);
        let output = command(&shop, &["run", "spelled.toml", "--out", name])
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{name}: {}", said(&output));
        assert_eq!(shop.hashes(name), expected, "{name}");
    }
}

#[test]
fn the_order_of_the_input_sections_changes_nothing() {
    let shop = TestDir::new();
    for name in ["x/beans.json", "x/allotment.json", "y/tools.json"] {
        shop.write(name, good_chat(name).to_string());
    }
    // The same id twice: which conversation keeps it must not depend on the order either.
    shop.write("y/twice.json", good_chat("x/beans.json").to_string());
    let sections = ["x/beans.json", "y/*", "x/allo*"].map(|path| format!("[[input]]\npath = {path:?}\n"));
    let mut seen = Vec::new();
    for (number, order) in [[0, 1, 2], [2, 1, 0], [1, 2, 0]].into_iter().enumerate() {
        let inputs: String = order.iter().map(|at| sections[*at].as_str()).collect();
        let rest =
            "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n[output]\npath = \"unused\"\n";
        shop.write("pipeline.toml", format!("name = \"order\"\n{inputs}{rest}"));
        let out = format!("out{number}");
        let output = run(&shop, &["--out", &out]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        seen.push(shop.hashes(&out));
    }
    assert!(seen[0] == seen[1] && seen[0] == seen[2]);
}

#[test]
fn a_dataset_that_was_touched_does_not_certify() {
    let shop = small();
    assert_eq!(code(&run(&shop, &[])), 0);
    let certify = || command(&shop, &["certify", "out"]).output().unwrap();
    assert_eq!(code(&certify()), 0);
    let part = shop.path("out/messages/part-00000-00000.parquet");
    let bytes = fs::read(&part).unwrap();
    let expect_fault = |name: &str| {
        let output = certify();
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(code(&output), 1, "{words}");
        assert!(words.contains(name), "{name}: {words}");
    };
    fs::remove_file(&part).unwrap();
    expect_fault("messages/part-00000-00000.parquet");
    fs::write(&part, &bytes[..bytes.len() - 1]).unwrap();
    expect_fault("messages/part-00000-00000.parquet");
    fs::write(&part, &bytes).unwrap();
    assert_eq!(code(&certify()), 0);
    for name in [
        "out/note.txt",
        "out/messages/part-00000-00009.parquet",
        "out/.hidden",
    ] {
        let extra = shop.write(name, &bytes);
        expect_fault(name.trim_start_matches("out/"));
        fs::remove_file(extra).unwrap();
    }
    let marker = fs::read(shop.path("out/_SUCCESS")).unwrap();
    fs::remove_file(shop.path("out/_SUCCESS")).unwrap();
    expect_fault("_SUCCESS");
    fs::write(shop.path("out/_SUCCESS"), marker).unwrap();
    assert_eq!(code(&certify()), 0);
}

#[test]
fn no_flipped_byte_of_a_certified_file_goes_unnoticed() {
    let shop = small();
    assert_eq!(code(&run(&shop, &[])), 0);
    let out = shop.path("out");
    let mut flips = 0;
    for (path, bytes) in listing(&out) {
        let is_derived = chatmill_dataset::DERIVED.iter().any(|name| path.ends_with(name))
            || path.ends_with(chatmill_dataset::RECORD);
        if path.is_dir() || is_derived {
            continue;
        }
        // Trying every byte would take minutes; the step differs from file to file.
        for at in (flips % 7..bytes.len()).step_by(bytes.len() / 23 + 1) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1 << (at % 8);
            fs::write(&path, &wrong).unwrap();
            let certificate = chatmill_dataset::certify(&out);
            assert!(
                !certificate.is_ok_and(|certificate| certificate.holds()),
                "{}: byte {at}",
                path.display()
            );
            flips += 1;
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(chatmill_dataset::certify(&out).unwrap().holds());
    assert!(flips > 150, "only {flips} flips");
}
