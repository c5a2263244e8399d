//! `[emit]`, `[simulate]`, `[prove]`, `[synth]` and `[bitstream]` of a config file: options by their names.

use super::options::{BitstreamOptions, EmitOptions, ProveOptions, SimulateOptions, SynthOptions};
use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, Args, Command};
use config::{Item, Problem, Table, Value, did_you_mean};
use std::error::Error;

/// The names of the tables, in the order in which a run comes to them.
pub const TABLES: [&str; 5] = ["emit", "simulate", "prove", "synth", "bitstream"];

/// The hardware that a file asks for.
#[derive(Clone, Debug, Default)]
pub struct Hardware {
    /// The folder.
    pub emit: Option<EmitOptions>,
    /// Its simulation.
    pub simulate: Option<SimulateOptions>,
    /// Its proof.
    pub prove: Option<ProveOptions>,
    /// Its size.
    pub synth: Option<SynthOptions>,
    /// Its file for a board.
    pub bitstream: Option<BitstreamOptions>,
}

impl Hardware {
    /// The tables of a file that `is_read` names, and their problems.
    pub fn read(file: &Table, text: &str, is_read: impl Fn(&str) -> bool) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut reader = Tables {
            file,
            text,
            is_read: &is_read,
            problems: &mut problems,
        };
        let own = Self {
            emit: reader.table("emit"),
            simulate: reader.table("simulate"),
            prove: reader.table("prove"),
            synth: reader.table("synth"),
            bitstream: reader.table("bitstream"),
        };
        let entries = TABLES.iter().filter(|name| is_read(name));
        let alone = entries.filter_map(|name| Some((name, &file.get(name)?.0)));
        if file.get("emit").is_none() {
            problems.extend(alone.map(|(name, key)| Problem {
                span: key.span.clone(),
                message: format!("[{name}] needs [emit], which makes the hardware"),
            }));
        }
        (own, problems)
    }
}

struct Tables<'a> {
    file: &'a Table,
    text: &'a str,
    is_read: &'a dyn Fn(&str) -> bool,
    problems: &'a mut Vec<Problem>,
}

impl Tables<'_> {
    fn table<T: Args>(&mut self, name: &'static str) -> Option<T> {
        let (own, item) = self.file.get(name).filter(|_| (self.is_read)(name))?;
        let Some(table) = item.as_table() else {
            self.problem(item, format!("{name} must be a table, [{name}]"));
            return None;
        };
        let command = T::augment_args(Command::new(name).no_binary_name(true));
        let before = self.problems.len();
        let mut words = Vec::new();
        for (key, value) in &table.0 {
            let option = key.name.replace('_', "-");
            let mut known = command.get_arguments();
            let Some(arg) = known.find(|arg| arg.get_long() == Some(&option)) else {
                let names = command.get_arguments().filter_map(Arg::get_long);
                let names: Vec<String> = names.map(|name| name.replace('-', "_")).collect();
                let close = did_you_mean(&key.name, names.iter().map(String::as_str));
                let message = format!("[{name}]: unknown key '{}'{close}", key.name);
                let span = key.span.clone();
                self.problems.push(Problem { span, message });
                continue;
            };
            let result = self.word(arg, &option, value);
            let result = result.and_then(|word| alone(&command, word));
            match result {
                Ok(word) => words.extend(word),
                Err(message) => self.problem(value, format!("{}: {message}", key.name)),
            }
        }
        if self.problems.len() > before {
            return None;
        }
        let matches = command.try_get_matches_from(words);
        match matches.and_then(|matches| T::from_arg_matches(&matches)) {
            Ok(options) => Some(options),
            Err(error) => {
                let message = format!("[{name}]: {}", sentence(&error));
                let span = own.span.clone();
                self.problems.push(Problem { span, message });
                None
            }
        }
    }

    /// A key as a word of a command line; none for a switch that is off.
    fn word(&self, arg: &Arg, option: &str, item: &Item) -> Result<Option<String>, String> {
        let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
        match &item.value {
            Value::Bool(is_on) if is_switch => Ok(is_on.then(|| format!("--{option}"))),
            _ if is_switch => Err("it is not true or false".to_owned()),
            Value::Text(text) => Ok(Some(format!("--{option}={text}"))),
            Value::Int(_) | Value::Float(_) => {
                let number = self.text[item.span.clone()].replace('_', "");
                Ok(Some(format!("--{option}={number}")))
            }
            other => Err(format!("{other} is not a single value")),
        }
    }

    fn problem(&mut self, item: &Item, message: String) {
        let span = item.span.clone();
        self.problems.push(Problem { span, message });
    }
}

/// Checks one key for itself, so that its problem has a place; what is missing beside it is found with all of them.
fn alone(command: &Command, word: Option<String>) -> Result<Option<String>, String> {
    match command.clone().try_get_matches_from(word.iter()) {
        Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => Err(sentence(&error)),
        _ => Ok(word),
    }
}

/// The reason of a refusal without the words of a command line.
fn sentence(error: &clap::Error) -> String {
    if let Some(source) = error.source() {
        return source.to_string();
    }
    let context = |kind| error.get(kind).map(ToString::to_string);
    let words = context(ContextKind::ValidValue);
    let option = context(ContextKind::InvalidArg).unwrap_or_default();
    let option = option.split([' ', '=']).next().unwrap_or_default();
    let key = option.trim_start_matches('-').replace('-', "_");
    match (error.kind(), words) {
        (ErrorKind::InvalidValue, Some(words)) => format!("it is none of {words}"),
        (ErrorKind::MissingRequiredArgument, _) => format!("{key} is missing"),
        (ErrorKind::ArgumentConflict, _) => format!("{key} cannot stand beside another key here"),
        _ => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Hardware, Vec<String>) {
        let (table, problems) = Table::parse_recoverable(text);
        assert!(problems.is_empty(), "{problems:?}");
        let (hardware, problems) = Hardware::read(&table, text, |_| true);
        let messages = problems.into_iter().map(|problem| problem.message);
        (hardware, messages.collect())
    }

    #[test]
    fn tables_are_options() {
        let text = "[emit]\ntarget = \"ecp5\"\nlevels = 3\noutput = \"argmax\"\nrows = 1_000\n\
                    [prove]\n[synth]\nplace = true\n[bitstream]\nboard = \"ulx3s-85f\"\n";
        let (hardware, problems) = read(text);
        assert_eq!(problems, Vec::<String>::new());
        let emit = hardware.emit.expect("it is there");
        assert_eq!(
            (emit.target().name, emit.levels, emit.rows),
            ("ecp5", Some(3.0), Some(1000))
        );
        let synth = hardware.synth.expect("it is there");
        assert!(synth.place && synth.seeds == 3 && hardware.prove.is_some());
        assert!(hardware.simulate.is_none());
    }

    #[test]
    fn every_mistake_is_named() {
        let (_, problems) = read(
            "[emit]\nlevel = 3\nstyle = \"flat\"\nrows = 0\ntarget = \"ecp\"\n[synth]\nplace = 1\n[bitstream]\nseeds = 2\n",
        );
        assert_eq!(
            problems,
            [
                "[emit]: unknown key 'level'; did you mean 'levels'?",
                "style: it is none of combinational, pipelined",
                "rows: it is not a whole number of at least 1",
                "target: unknown target 'ecp'; did you mean 'ecp5', 'xc7' or 'xcup'?",
                "place: it is not true or false",
                "[bitstream]: board is missing",
            ]
        );
        assert_eq!(read("[emit]\nlevels = 2\nclock = 100\n").1.len(), 1);
        let alone = read("[prove]\n").1;
        assert_eq!(alone, ["[prove] needs [emit], which makes the hardware"]);
    }
}
