//! The wheel is a separate workspace, and its tests share the build folder of the main one: a dependency is built once as long as
//! both workspaces ask for the same version, features and profile.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test that reads the repository itself"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(name)).unwrap()
}

/// Returns the lines of the tables of a profile, without comments.
fn profile(manifest: &str, name: &str) -> Vec<String> {
    let (text, header) = (read(manifest), format!("[profile.{name}"));
    let mut is_inside = false;
    let lines = text.lines().filter(|line| {
        if line.starts_with('[') {
            is_inside = line.starts_with(&header);
        }
        is_inside && !line.is_empty() && !line.starts_with('#')
    });
    lines.map(str::to_owned).collect()
}

/// Returns the packages of a lock file with their versions.
fn locked(lock: &str) -> BTreeMap<String, Vec<String>> {
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in read(lock).split("[[package]]").skip(1) {
        let field = |key: &str| {
            package
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .unwrap()
                .to_owned()
        };
        packages
            .entry(field("name = "))
            .or_default()
            .push(field("version = "));
    }
    packages
}

#[test]
fn the_dev_profile_of_the_wheel_is_that_of_the_workspace() {
    let own = profile("python/Cargo.toml", "dev");
    assert!(own.len() > 2, "{own:?}");
    assert_eq!(own, profile("Cargo.toml", "dev"));
}

#[test]
fn packages_of_both_lock_files_have_the_same_versions() {
    let mill = locked("Cargo.lock");
    for (name, versions) in locked("python/Cargo.lock") {
        if let Some(known) = mill.get(&name) {
            let others: Vec<_> = versions
                .iter()
                .filter(|version| !known.contains(version))
                .collect();
            assert!(
                others.is_empty(),
                "{name}: {others:?} in python/Cargo.lock, {known:?} in Cargo.lock"
            );
        }
    }
}
