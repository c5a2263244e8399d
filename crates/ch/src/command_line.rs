//! The command line: its definition, numbers that look like options, and errors as one sentence.

use crate::commands::Command;
use crate::output::{self, Stream};
use anyhow::bail;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use config::did_you_mean;
use std::ffi::OsString;

/// Commands that share a line of the program's help, which is short enough for a screen of 24 lines.
const SHARED_LINES: &[(&[&str], &str)] = &[
    (
        &["emit", "prove", "simulate", "synth", "bitstream"],
        "a network as hardware",
    ),
    (
        &["help", "completions", "man"],
        "of a command, for a shell, of the manual",
    ),
];

/// The help of the program.
fn screen() -> String {
    let definition = Command::augment_subcommands(clap::Command::new("ch"));
    let all: Vec<&clap::Command> = definition.get_subcommands().collect();
    let is_shared = |name: &str| SHARED_LINES.iter().any(|(names, _)| names.contains(&name));
    let own = || all.iter().filter(|command| !is_shared(command.get_name()));
    let width = own()
        .map(|command| command.get_name().len())
        .max()
        .unwrap_or(0);
    let line = |command: &&clap::Command| {
        let about = command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        format!("  {:<width$}  {about}\n", command.get_name())
    };
    let lines: String = own().map(line).collect();
    let shared = SHARED_LINES
        .iter()
        .map(|(names, about)| format!("  {}: {about}", names.join(", ")));
    let shared: Vec<String> = shared.collect();
    let shared = shared.join(
        "
",
    );
    format!(
        "{{about}}\nUsage: {{usage}}; `ch -V` prints the version\n\nCommands:\n{lines}{shared}{{after-help}}"
    )
}

/// Explore number formats, networks and hardware.
#[derive(Parser)]
#[command(
    name = "ch",
    version,
    styles = clap::builder::Styles::plain(),
    disable_help_subcommand = true,
    help_template = screen(),
    after_help = "Examples:
  ch run configs/quickstart.toml"
)]
// Of clap's own widths, 0 is no limit.
#[command(term_width = Stream::Out.width().unwrap_or(0))]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Memory that reading any file may take, as 2GB; if not given 256 MB, or 16 times its size
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory, help_heading = "Machine")]
    max_memory: Option<u64>,
}

/// Reads the command line.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Command, Error> {
    let line = CommandLine::try_parse_from(arguments(words))?;
    if let Some(bytes) = line.max_memory {
        interop::Budget::grant(bytes);
    }
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

/// Units of memory, the longest first.
const UNITS: &[(&str, f64)] = &[
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("b", 1.0),
];

/// Bytes of a size such as `2GB` or `500 MB`.
fn memory(text: &str) -> Result<u64, String> {
    let plain = text.trim().to_lowercase();
    let in_unit = |&(unit, bytes): &(&str, f64)| {
        let number: f64 = plain.strip_suffix(unit)?.trim().parse().ok()?;
        (number.is_finite() && number > 0.0).then_some((number * bytes) as u64)
    };
    let found = UNITS.iter().find_map(in_unit);
    found.ok_or_else(|| "it is not a size such as 500MB or 2GB".to_owned())
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
fn arguments(words: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    words.into_iter().map(|argument| {
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
pub fn print_error(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", error.render());
            2
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
