//! The command line: its definition, numbers that look like options, and errors as one sentence.

use crate::commands::Command;
use crate::output;
use anyhow::bail;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, Parser};
use config::did_you_mean;
use std::ffi::OsString;
use std::process::ExitCode;

/// The help of the program, short enough for a screen of 24 lines.
const SCREEN: &str = "\
{about}
Usage: {usage}; `ch -V` prints the version

Commands:
{subcommands}{after-help}";

/// Explore number formats, networks and hardware.
#[derive(Parser)]
#[command(
    name = "ch",
    version,
    styles = clap::builder::Styles::plain(),
    disable_help_subcommand = true,
    help_template = SCREEN,
    after_help = "Examples:
  ch run configs/quickstart.toml
  ch help train"
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// Reads the command line.
pub fn parse() -> Result<Command, Error> {
    let line = CommandLine::try_parse_from(arguments())?;
    Ok(line.command)
}

/// The definition of the command line.
pub fn definition() -> clap::Command {
    CommandLine::command()
}

/// The command of this name, or the command line itself; `data get` is a verb of a command.
pub fn find(path: &[String]) -> anyhow::Result<clap::Command> {
    let mut root = definition();
    // Gives every command its full name and its usage.
    root.build();
    let mut command = &root;
    for name in path {
        let Some(next) = command.find_subcommand(name) else {
            bail!("{}", unknown(name, command));
        };
        command = next;
    }
    Ok(command.clone())
}

/// The answer to `--help` behind a command.
pub fn help(path: &[String]) -> String {
    let line = ["ch"].into_iter().chain(path.iter().map(String::as_str));
    let parsed = definition().try_get_matches_from(line.chain(["--help"]));
    parsed.map_or_else(|help| help.render().to_string(), |_| String::new())
}

fn unknown(name: &str, command: &clap::Command) -> String {
    let names = command.get_subcommands().map(clap::Command::get_name);
    format!("unknown command '{name}'{}", did_you_mean(name, names))
}

/// The words of the command line. A negative number that clap would take for options, `-1e-3` or `-inf`, is written in digits.
fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|argument| {
        let digits = argument.to_str().and_then(in_digits);
        digits.map_or(argument, OsString::from)
    })
}

fn in_digits(argument: &str) -> Option<String> {
    let value: f64 = argument.strip_prefix('-')?.parse().ok()?;
    match value {
        _ if value.is_nan() => Some("nan".to_owned()),
        // Beyond f64, and read back as infinity.
        f64::INFINITY => Some("-1e999".to_owned()),
        _ if argument[1..].contains(['-', '+']) => Some(format!("-{value}")),
        _ => None,
    }
}

/// Prints what clap returns instead of a command: help and version are results, everything else is an error.
pub fn print_error(error: &Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", error.render());
            ExitCode::from(2)
        }
        _ => output::print_error(&sentence(error)),
    }
}

fn sentence(error: &Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let suggestion =
        text(ContextKind::SuggestedSubcommand).or_else(|| text(ContextKind::SuggestedArg));
    let hint = suggestion.map_or(String::new(), |word| format!("; did you mean '{word}'?"));
    match (error.kind(), text(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(word)) => unknown(&word, &definition()),
        _ => first_paragraph(&error.render().to_string()) + &hint,
    }
}

/// clap's own words without its usage text and tips.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
