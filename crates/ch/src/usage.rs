//! Reading the command line: numbers that look like options, and wrong words answered in one sentence.

use crate::settings::{Action, hide_settings};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use config::did_you_mean;
use std::ffi::OsString;
use std::process::ExitCode;

/// The command line, read.
pub fn parse() -> Result<crate::Cli, Error> {
    let command = crate::Cli::command()
        .mut_subcommand("test", |test| hide_settings(test, Action::Use))
        .mut_subcommand("predict", |predict| hide_settings(predict, Action::Use))
        .mut_subcommand("search", |search| hide_settings(search, Action::Search))
        .mut_subcommand("transform", |transform| {
            hide_settings(transform, Action::Transform)
        });
    crate::Cli::from_arg_matches(&command.try_get_matches_from(arguments())?)
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

/// Help and version are results; everything else is an error.
pub fn answer(error: &Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            crate::print(&error.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{}", error.render());
            ExitCode::from(2)
        }
        _ => crate::fail(&sentence(error)),
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
            let names = crate::vocabulary::commands();
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
