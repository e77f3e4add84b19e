//! The `chatmill` program. Its code is in the library, which the Python package calls, too.

use std::process::ExitCode;

fn main() -> ExitCode {
    chatmill_cli::main()
}
