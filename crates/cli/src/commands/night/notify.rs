//! The notice: starts a program of the user's choice when a night has ended.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use chatmill_dataset::{METRICS, NIGHT_JSON, NIGHT_NOTE};

use super::records::{Night, Records};

/// The time after which the program is ended.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval at which its status is polled.
const PAUSE: Duration = Duration::from_millis(50);

/// Starts the program and waits for it; an error is a clause with the reason.
pub(super) fn notify(words: &[String], records: &Records, night: &Night) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    let folder = records.store.night(&night.name);
    let record = &night.record;
    let exit = record.exit_code.map_or_else(String::new, |code| code.to_string());
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("CHATMILL_NIGHT", night.name.as_str())
        .env("CHATMILL_STATE", record.state.word())
        .env("CHATMILL_EXIT_CODE", exit)
        .env("CHATMILL_STORE", records.store.path())
        .env("CHATMILL_FOLDER", &folder)
        .env("CHATMILL_DATASET", records.store.dataset(&night.name))
        .env("CHATMILL_NOTE", folder.join(NIGHT_NOTE))
        .env("CHATMILL_JSON", folder.join(NIGHT_JSON))
        .env("CHATMILL_METRICS", records.store.path().join(METRICS))
        .stdin(Stdio::null())
        // Its output is not part of the output of chatmill.
        .stdout(Stdio::null());
    let status = wait(&mut command, PATIENCE)
        .map_err(|reason| format!("{}: {reason}", Path::new(program).display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{program} ended with {status}"))
    }
}

fn wait(command: &mut Command, patience: Duration) -> Result<ExitStatus, String> {
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if begun.elapsed() < patience => std::thread::sleep(PAUSE),
            Ok(None) => {
                // Ignored: the program may have ended in the meantime.
                let ended = child.kill().and_then(|()| child.wait());
                drop(ended);
                return Err(format!(
                    "did not end within {} seconds, and was ended",
                    patience.as_secs()
                ));
            }
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notify_program_is_killed_when_its_time_is_over() {
        let mut quick = Command::new("true");
        assert!(wait(&mut quick, PATIENCE).unwrap().success());
        let mut slow = Command::new("sleep");
        slow.arg("3600");
        let reason = wait(&mut slow, Duration::ZERO).unwrap_err();
        assert!(reason.contains("did not end within"), "{reason}");
        let reason = wait(&mut Command::new("/nowhere/at-all"), PATIENCE).unwrap_err();
        assert!(reason.contains("cannot be started"), "{reason}");
    }
}
