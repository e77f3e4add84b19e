//! The `chatmill` program; all of it is in the library, which the Python package calls as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    chatmill_cli::main()
}
