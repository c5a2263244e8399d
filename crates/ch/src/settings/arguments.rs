//! The command line of settings: an argument for every line of the table.

use super::Action;
use super::catalog::{Group, Kind, SETTINGS, Setting};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the command line gives: settings by key, and the names given by position.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Settings by key.
    pub values: BTreeMap<&'static str, String>,
    /// The file of settings.
    pub config: Option<PathBuf>,
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .help("TOML file of settings; options win over it")
            .help_heading(Group::Run.heading());
        command.arg(config).args(SETTINGS.iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Hides the options that an action has no use for from its help. They are still accepted: files and habits carry them
/// from one action to the next.
pub fn hide_unused(action: Action) -> impl Fn(Arg) -> Arg {
    move |arg| {
        let mut unused = SETTINGS
            .iter()
            .filter(|setting| !action.uses(setting.group));
        let is_unused = unused.any(|setting| arg.get_id() == setting.key);
        arg.hide(is_unused)
    }
}

fn argument(setting: &Setting) -> Arg {
    let arg = Arg::new(setting.key).help(help(setting));
    if setting.option.is_empty() {
        return arg.value_name(placeholder(setting.key, setting.kind));
    }
    let arg = arg
        .long(setting.option)
        .help_heading(setting.group.heading());
    let arg = if setting.alias.is_empty() {
        arg
    } else {
        arg.alias(setting.alias)
    };
    match setting.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        _ if setting.key == "resume" => {
            let arg = arg
                .value_name("FOLDER")
                .num_args(0..=1)
                .require_equals(true);
            arg.default_missing_value("latest")
        }
        kind => arg
            .value_name(placeholder(setting.key, kind))
            .allow_negative_numbers(true),
    }
}

/// What it does, what it takes, and the default.
fn help(setting: &Setting) -> String {
    let choices = match setting.kind {
        Kind::Choice(words) => format!(": {}", words.join(", ")),
        _ => String::new(),
    };
    let default = if setting.default.is_empty() || setting.kind == Kind::Switch {
        String::new()
    } else {
        format!(" [{}]", setting.default)
    };
    let (first, rest) = setting.about.split_at(1);
    format!("{}{rest}{choices}{default}", first.to_uppercase())
}

fn placeholder(key: &str, kind: Kind) -> &'static str {
    match kind {
        Kind::Whole(..) => "N",
        Kind::Number => "X",
        Kind::Choice(_) => "WORD",
        _ if key.ends_with("_dir") => "FOLDER",
        _ if key == "load_name" => "FILE",
        _ if key == "model" => "MODEL",
        _ if key == "dataset" => "DATASET",
        _ => "NAME",
    }
}

impl clap::FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in SETTINGS {
            let value = match setting.kind {
                Kind::Switch => matches.get_flag(setting.key).then(|| "true".to_owned()),
                _ => matches.get_one::<String>(setting.key).cloned(),
            };
            self.values.extend(value.map(|value| (setting.key, value)));
        }
        self.config = matches.get_one::<String>("config").map(PathBuf::from);
        Ok(())
    }
}
