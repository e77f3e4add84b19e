//! The inputs that patterns match, in folders that each test creates.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::discover::{Links, discover_through};
use crate::{DiscoverError, Event, Input, InputKind, Reader, content_hash, discover, read_small};
use chatmill_diag::Limits;
use tempfile::TempDir;

/// A folder with files, each with its name as content.
fn tree(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    folder
}

fn code(input: &Input) -> &str {
    match &input.kind {
        InputKind::Refused(finding) => finding.code.name,
        InputKind::File => "file",
        InputKind::Stdin => "stdin",
        InputKind::Pipe => "pipe",
        InputKind::Folder => "folder",
        InputKind::Memory(_) => "memory",
        InputKind::Failed(_) => "failed",
    }
}

/// The names and kinds of the inputs, in order.
fn found(pattern: &str, base: &Path) -> Vec<String> {
    let inputs = discover(pattern, base).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    inputs
        .iter()
        .map(|input| format!("{} {}", input.name(), code(input)))
        .collect()
}

fn files(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{name} file")).collect()
}

#[test]
fn a_file_is_named_by_its_last_step() {
    let folder = tree(&["a/b.json"]);
    for pattern in [
        "a/b.json",
        "./a/b.json",
        "a/../a/b.json",
        folder.path().join("a/b.json").to_str().unwrap(),
    ] {
        let inputs = discover(pattern, folder.path()).unwrap();
        assert_eq!(
            (inputs.len(), &*inputs[0].name(), inputs[0].bytes),
            (1, "b.json", 8)
        );
        assert_eq!((inputs[0].shown().as_str(), code(&inputs[0])), (pattern, "file"));
        assert_eq!(fs::read_to_string(inputs[0].path()).unwrap(), "a/b.json");
    }
}

#[test]
fn a_folder_gives_its_files_sorted_by_bytes_without_hidden_ones() {
    let folder = tree(&[
        "x/b",
        "x/B",
        "x/a/z",
        "x/a.json",
        "x/ä",
        "x/.hidden",
        "x/.git/config",
        "x/a/.h",
        "y/other",
    ]);
    let expected = files(&["B", "a.json", "a/z", "b", "ä"]);
    assert_eq!(found("x", folder.path()), expected);
    assert_eq!(found("x/", folder.path()), expected);
    assert_eq!(found(".", &folder.path().join("x")), expected);
    let inputs = discover("x", folder.path()).unwrap();
    assert_eq!(inputs[2].shown(), "x/a/z");
    assert_eq!(discover("x/", folder.path()).unwrap()[2].shown(), "x/a/z");
    assert_eq!(inputs[2].path(), folder.path().join("x/a/z"));
}

#[test]
fn a_glob_names_its_files_below_its_fixed_prefix() {
    let folder = tree(&[
        "d/2024/a.json",
        "d/2024/b.txt",
        "d/2025/a.json",
        "d/2025/deep/c.json",
        "d/top.json",
        "d/.h/x.json",
    ]);
    let base = folder.path();
    for (pattern, expected) in [
        ("d/*.json", &["top.json"][..]),
        ("d/*/a.json", &["2024/a.json", "2025/a.json"]),
        ("d/2024/*", &["a.json", "b.txt"]),
        ("d/20*/*.json", &["2024/a.json", "2025/a.json"]),
        (
            "d/**/*.json",
            &["2024/a.json", "2025/a.json", "2025/deep/c.json", "top.json"],
        ),
        (
            "d/**",
            &[
                "2024/a.json",
                "2024/b.txt",
                "2025/a.json",
                "2025/deep/c.json",
                "top.json",
            ],
        ),
        ("**/c.json", &["d/2025/deep/c.json"]),
        ("d/202[45]/?.json", &["2024/a.json", "2025/a.json"]),
        ("d/{top,2024/a}.json", &["2024/a.json", "top.json"]),
        ("d/*", &["top.json"]),
        ("d/.h/*", &["x.json"]),
        ("d/.*/*.json", &[".h/x.json"]),
    ] {
        assert_eq!(found(pattern, base), files(expected), "{pattern}");
        assert_eq!(
            found(&format!("./{pattern}"), base),
            files(expected).iter().map(Clone::clone).collect::<Vec<_>>()
        );
    }
    let absolute = base.join("d/*/a.json");
    assert_eq!(
        found(absolute.to_str().unwrap(), Path::new("/")),
        files(&["2024/a.json", "2025/a.json"])
    );
    assert_eq!(discover("d/*/a.json", base).unwrap()[0].shown(), "d/2024/a.json");
}

#[test]
fn a_path_that_exists_is_meant_literally() {
    let folder = tree(&["chat[1].json", "chat1.json"]);
    assert_eq!(found("chat[1].json", folder.path()), files(&["chat[1].json"]));
    assert_eq!(found("chat\\[1\\].json", folder.path()), files(&["chat[1].json"]));
    assert_eq!(found("chat[0-9].json", folder.path()), files(&["chat1.json"]));
}

#[test]
fn a_pattern_without_a_match_is_an_error_that_names_pattern_and_base() {
    let folder = tree(&["a/.hidden"]);
    for (pattern, looked_in) in [
        ("*.json", ""),
        ("a/*.json", "a"),
        ("no/such.json", "no"),
        ("no/*", "no"),
    ] {
        let error = discover(pattern, folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("`{pattern}`")), "{error}");
        assert!(
            error.contains(folder.path().join(looked_in).to_str().unwrap()),
            "{error}"
        );
    }
    let error = discover("a", folder.path()).unwrap_err().to_string();
    assert!(error.contains("`a` has no file to read"), "{error}");
    let error = discover("a/[", folder.path()).unwrap_err().to_string();
    assert!(error.contains("`a/[` is not a valid pattern"), "{error}");
}

#[test]
fn a_dash_is_the_standard_input() {
    let inputs = discover("-", Path::new("/")).unwrap();
    assert_eq!(
        (inputs.len(), &*inputs[0].name(), code(&inputs[0])),
        (1, "-", "stdin")
    );
}

#[test]
fn a_folder_that_a_pattern_spells_is_no_file() {
    let folder = tree(&["odd.json/inside.json", "a.json"]);
    assert_eq!(
        found("*.json", folder.path()),
        ["a.json file", "odd.json not-a-regular-file"]
    );
    assert_eq!(found("*", folder.path()), files(&["a.json"]));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_inside_folders_are_reported_and_not_followed() {
        let folder = tree(&["in/a.json", "out/secret.json"]);
        let inside = folder.path().join("in");
        symlink("../out/secret.json", inside.join("file.json")).unwrap();
        symlink("../out", inside.join("folder")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("nowhere", inside.join("dangling.json")).unwrap();
        let link = "link-not-followed";
        let expected = ["a.json file".to_owned()]
            .into_iter()
            .chain(["dangling.json", "file.json", "folder", "up"].map(|name| format!("{name} {link}")));
        assert_eq!(found("in", folder.path()), expected.collect::<Vec<_>>());
        assert_eq!(
            found("in/*.json", folder.path()),
            [
                "a.json file",
                "dangling.json link-not-followed",
                "file.json link-not-followed"
            ]
        );
        // Links to folders that the pattern would have entered are reported as well.
        assert_eq!(
            found("in/*/secret.json", folder.path()),
            ["folder link-not-followed", "up link-not-followed"]
        );
    }

    #[test]
    fn links_that_are_followed_lead_to_each_folder_once() {
        let folder = tree(&["in/a.json", "in/deep/b.json", "out/c.json", "out/more/d.json"]);
        let inside = folder.path().join("in");
        symlink("../out/c.json", inside.join("file.json")).unwrap();
        symlink("../out", inside.join("folder")).unwrap();
        symlink("../out/more", inside.join("again")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("loop", inside.join("loop")).unwrap();
        symlink("nowhere", inside.join("dangling.json")).unwrap();
        let found = |pattern: &str| -> Vec<String> {
            let inputs = discover_through(pattern, folder.path(), Links::Followed).unwrap();
            inputs
                .iter()
                .map(|input| format!("{} {}", input.name(), code(input)))
                .collect()
        };
        let expected = [
            "a.json file",
            "again/d.json file",
            "dangling.json unreadable-input",
            "deep/b.json file",
            "file.json file",
            "folder/c.json file",
            "loop unreadable-input",
        ];
        assert_eq!(found("in"), expected);
        assert_eq!(found("in/**/*.json").len(), 6, "a glob goes the same way");
        assert_eq!(
            found("in/*.json"),
            ["a.json file", "dangling.json unreadable-input", "file.json file"]
        );
    }

    #[test]
    fn a_link_that_is_named_is_followed() {
        let folder = tree(&["a/x.json"]);
        symlink("a/x.json", folder.path().join("link")).unwrap();
        symlink("a", folder.path().join("folder")).unwrap();
        symlink("nowhere", folder.path().join("dangling")).unwrap();
        assert_eq!(found("link", folder.path()), ["link file"]);
        assert_eq!(found("folder", folder.path()), ["x.json file"]);
        assert_eq!(found("dangling", folder.path()), ["dangling unreadable-input"]);
    }

    #[test]
    fn a_pipe_is_read_only_when_it_is_named() {
        let folder = tree(&["a.json"]);
        let pipe = folder.path().join("pipe.json");
        let status = Command::new("mkfifo").arg(&pipe).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "this test needs mkfifo"
        );
        assert_eq!(
            found("*.json", folder.path()),
            ["a.json file", "pipe.json not-a-regular-file"]
        );
        assert_eq!(
            found(".", folder.path()),
            ["a.json file", "pipe.json not-a-regular-file"]
        );
        let inputs = discover("pipe.json", folder.path()).unwrap();
        assert_eq!(code(&inputs[0]), "pipe");
        let writer = std::thread::spawn(move || fs::write(pipe, "{\"a\":1}\n{\"b\":2}\n").unwrap());
        let mut reader = Reader::open(&inputs[0], &Limits::default());
        let mut buffer = Vec::new();
        let mut frames = 0;
        while let Some(event) = reader.next(&mut buffer) {
            frames += usize::from(matches!(event, Event::Frame(_)));
        }
        writer.join().unwrap();
        assert_eq!((frames, buffer.as_slice()), (2, &b"{\"a\":1}{\"b\":2}"[..]));
        assert_eq!(
            reader.raw_hash(&mut |_| true).unwrap().unwrap(),
            blake3::hash(b"{\"a\":1}\n{\"b\":2}\n")
        );
    }

    #[test]
    fn devices_and_sockets_are_not_regular_files() {
        assert_eq!(found("/dev/null", Path::new("/")), ["null not-a-regular-file"]);
        let folder = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("s.json")).unwrap();
        assert_eq!(found("*.json", folder.path()), ["s.json not-a-regular-file"]);
        assert_eq!(found("s.json", folder.path()), ["s.json not-a-regular-file"]);
    }

    /// Whether this process can read files without read permission, as root can.
    fn reads_everything(path: &Path) -> bool {
        fs::File::open(path).is_ok()
    }

    #[test]
    fn a_path_that_cannot_be_opened_is_a_refused_input() {
        let folder = tree(&["a.json", "closed.json", "b/x.json"]);
        let closed = folder.path().join("closed.json");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(folder.path().join("b"), fs::Permissions::from_mode(0o000)).unwrap();
        let expected = if reads_everything(&closed) {
            ["a.json file", "b/x.json file", "closed.json file"]
        } else {
            [
                "a.json file",
                "b unreadable-input",
                "closed.json unreadable-input",
            ]
        };
        assert_eq!(found(".", folder.path()), expected);
        fs::set_permissions(folder.path().join("b"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Reads an input; returns the codes of its framing errors, and the failure.
fn framing_errors(input: &Input) -> Vec<String> {
    let mut reader = Reader::open(input, &Limits::default());
    let mut buffer = Vec::new();
    let mut codes = Vec::new();
    while let Some(event) = reader.next(&mut buffer) {
        match event {
            Event::FramingError(error) => codes.push(error.code.name.to_owned()),
            Event::Failed(failure) => codes.push(failure.to_string()),
            _ => {}
        }
    }
    assert_eq!(reader.raw_hash(&mut |_| true).unwrap(), None);
    codes
}

#[test]
fn a_file_that_changes_after_discovery_gives_no_finding() {
    let folder = tree(&["a.json"]);
    let path = folder.path().join("a.json");
    let inputs = discover("a.json", folder.path()).unwrap();
    fs::remove_file(&path).unwrap();
    let failed = |what: &str| vec![format!("cannot open {}: {what}", path.display())];
    assert_eq!(
        framing_errors(&inputs[0]),
        failed("No such file or directory (os error 2)")
    );
    fs::create_dir(&path).unwrap();
    assert_eq!(framing_errors(&inputs[0]), failed("it is not a regular file"));
    let refused = discover("*.json", folder.path()).unwrap();
    assert_eq!(framing_errors(&refused[0]), ["not-a-regular-file"]);
}

#[test]
fn braces_that_lie_too_deep_in_one_another_are_refused() {
    let folder = tree(&["a.json"]);
    let nested = |depth: usize| format!("{}a{}.json", "{a,".repeat(depth), "}".repeat(depth));
    assert_eq!(found(&nested(16), folder.path()), files(&["a.json"]));
    for depth in [17, 200, 100_000] {
        let refused = discover(&nested(depth), folder.path());
        assert!(matches!(refused, Err(DiscoverError::TooNested { .. })), "{depth}");
    }
    let long = format!("{{{}}}", vec!["[!a-z]*"; 40_000].join(","));
    // The library decides whether that is too long; it must not panic.
    assert!(discover(&long, folder.path()).is_err());
}

#[test]
fn hashes_and_small_files_are_read_from_the_stored_bytes() {
    let folder = tree(&["a.toml"]);
    let path = folder.path().join("a.toml");
    assert_eq!(
        content_hash(&path, &mut |_| true).unwrap(),
        Some((6, blake3::hash(b"a.toml")))
    );
    assert_eq!(content_hash(&path, &mut |_| false).unwrap(), None);
    assert_eq!(read_small(&path, 7).unwrap(), "a.toml");
    assert_eq!(read_small(&path, 6).unwrap(), "a.toml");
    assert_eq!(
        read_small(&path, 5).unwrap_err().kind(),
        std::io::ErrorKind::FileTooLarge
    );
    fs::write(&path, b"\xFF").unwrap();
    assert_eq!(
        read_small(&path, 5).unwrap_err().kind(),
        std::io::ErrorKind::InvalidData
    );
    assert!(content_hash(&folder.path().join("no"), &mut |_| true).is_err());
    // A sparse file is refused because of its length, and not read.
    fs::File::create(&path).unwrap().set_len(20 << 30).unwrap();
    assert_eq!(
        read_small(&path, 1 << 30).unwrap_err().kind(),
        std::io::ErrorKind::FileTooLarge
    );
}
