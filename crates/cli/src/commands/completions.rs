//! `chatmill completions`: the file with which a shell completes the command line.

use chatmill_diag::codes::CODES;
use chatmill_dialect::{LossCode, known};
use chatmill_export::ENVELOPES;
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{Exit, Outcome};
use crate::{other_codes, output};

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill completions bash > chatmill.bash\n  chatmill completions zsh > _chatmill"
)]
pub(crate) struct Arguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion file.
pub(crate) fn execute(arguments: &Arguments, mut program: Command) -> Outcome<Exit> {
    // The file is generated in memory, because the generator panics when its writer fails.
    let mut file = Vec::new();
    program = with_values(program);
    clap_complete::generate(arguments.shell, &mut program, "chatmill", &mut file);
    output::print_file(&String::from_utf8_lossy(&file))?;
    Ok(Exit::Complete)
}

/// Adds the known values of arguments for completion. The arguments also accept other values.
fn with_values(program: Command) -> Command {
    let sources = || chatmill_source::SOURCES.iter().map(|source| source.id());
    let dialects = || known().map(chatmill_dialect::Dialect::id);
    let encodings = || {
        chatmill_token::ENCODINGS
            .iter()
            .map(chatmill_token::Encoding::name)
    };
    let envelopes = || ENVELOPES.iter().map(|envelope| envelope.id);
    let findings = CODES.iter().map(|code| code.code);
    let codes = findings.chain(other_codes::all().iter().map(|code| code.code.as_ref()));
    let known: [(&str, &str, Vec<&'static str>); 11] = [
        ("", "source", sources().chain(["auto"]).collect()),
        ("", "dialect", dialects().collect()),
        ("", "dialects", dialects().collect()),
        ("check", "targets", dialects().collect()),
        ("convert", "to", envelopes().chain(dialects()).collect()),
        ("", "envelope", envelopes().collect()),
        ("", "encoding", encodings().collect()),
        ("", "encodings", encodings().collect()),
        (
            "",
            "without",
            LossCode::ALL.iter().map(|code| code.as_str()).collect(),
        ),
        ("explain", "code", codes.collect()),
        ("sources", "name", sources().collect()),
    ];
    let names: Vec<String> = program
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    names.into_iter().fold(program, |program, name| {
        program.mut_subcommand(&name, |mut command| {
            for (of, argument, values) in &known {
                let has_it = command.get_arguments().any(|known| known.get_id() == argument);
                if has_it && (of.is_empty() || *of == name) {
                    command = command.mut_arg(argument, |known| {
                        known.value_parser(PossibleValuesParser::new(values))
                    });
                }
            }
            command
        })
    })
}
