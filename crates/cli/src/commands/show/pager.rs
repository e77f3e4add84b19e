//! Prints a text that is longer than the terminal with a pager.

use std::env;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::output::{self, is_on_terminal};

/// Prints a text; on a terminal through `PAGER`, or `less`, if the text does not fit. An empty `PAGER`, or `cat`, turns this off.
pub(super) fn print(text: &str) -> io::Result<()> {
    let size = terminal_size::terminal_size_of(io::stdout());
    let rows = size.map(|(_, rows)| usize::from(rows.0));
    let pager = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let mut words = pager.split_whitespace();
    match words.next().filter(|program| *program != "cat") {
        Some(program) if is_on_terminal() && rows.is_some_and(|rows| text.lines().count() >= rows) => {
            let mut command = Command::new(program);
            command.args(words);
            if env::var_os("LESS").is_none() {
                // Passes colours through, keeps the text on the screen, and ends at Ctrl-C like this program.
                command.env("LESS", "FRXK");
            }
            page(&mut command, text).or_else(|_| output::print_file(text))
        }
        _ => output::print_file(text),
    }
}

/// Runs a pager on a text until the user ends it.
///
/// # Errors
///
/// When it cannot be started; nothing was printed in that case.
fn page(command: &mut Command, text: &str) -> io::Result<()> {
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Ignored: the user may end the pager before the end of the text.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_that_ends_early_or_is_not_there_is_no_error_of_the_text() {
        let long = "line\n".repeat(100_000);
        assert!(page(&mut Command::new("true"), &long).is_ok());
        assert!(page(&mut Command::new("/nowhere/at-all"), &long).is_err());
    }
}
