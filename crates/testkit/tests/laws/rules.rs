//! The smallest bad file of every code raises it, and the good file in the same folder raises nothing worse than a note.

use std::path::PathBuf;

use chatmill_diag::Severity;
use chatmill_diag::codes::CODES;
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;

fn files(folder: &std::path::Path, stem: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(stem))
        .collect();
    found.sort();
    found
}

#[test]
fn bad_samples_raise_their_code_and_good_samples_are_clean() {
    let mut raised = 0;
    let mut wrong = Vec::new();
    for code in CODES {
        let folder = samples().join("rules").join(code.name);
        for path in files(&folder, "bad.") {
            let (findings, _) = TestDir::check(&path);
            let names: Vec<&str> = findings
                .iter()
                .map(|checked| checked.located.finding.code.name)
                .collect();
            if !names.contains(&code.name) {
                wrong.push(format!("{} raises {names:?}", path.display()));
            }
            raised += 1;
        }
        for path in files(&folder, "good.") {
            let (findings, _) = TestDir::check(&path);
            for checked in findings
                .iter()
                .filter(|checked| checked.located.finding.severity > Severity::Note)
            {
                wrong.push(format!(
                    "{} raises {}",
                    path.display(),
                    checked.located.finding.code.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(raised > 30, "only {raised} bad samples were tried");
}
