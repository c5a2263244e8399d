//! The command line: its definition, numbers that look like options, and errors as one sentence.

use crate::commands::Command;
use crate::output::{self, Stream};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, Parser};
use config::did_you_mean;
use std::ffi::OsString;
use std::process::ExitCode;

/// Explore number formats, networks and hardware.
#[derive(Parser)]
#[command(name = "ch", version, styles = clap::builder::Styles::plain(), disable_help_subcommand = true)]
// Of clap's own widths, 0 is no limit.
#[command(term_width = Stream::Out.width().unwrap_or(0))]
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

/// A parser of whole numbers from `min` to `max`, whose errors are in words.
pub fn whole<T: TryFrom<u64>>(
    min: u64,
    max: Option<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u64>().ok();
        let number = number.filter(|n| *n >= min && max.is_none_or(|max| *n <= max));
        let number = number.and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| match max {
            Some(max) => format!("it is not a whole number from {min} to {max}"),
            None => format!("it is not a whole number of at least {min}"),
        })
    }
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
        (ErrorKind::InvalidSubcommand, Some(word)) => {
            let definition = definition();
            let names = definition.get_subcommands().map(clap::Command::get_name);
            format!("unknown command '{word}'{}", did_you_mean(&word, names))
        }
        _ => first_paragraph(&error.render().to_string()) + &hint,
    }
}

/// clap's own words without its usage text and tips.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
