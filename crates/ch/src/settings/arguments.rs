//! The command line of settings: an argument for every line of the table.

use super::Action;
use super::setting::{Accepts, Group, Setting};
use super::table::SETTINGS;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::path::PathBuf;

/// The settings of a command line, as they were typed.
#[derive(Clone, Debug, Default)]
pub struct SettingArgs {
    /// Settings with their texts, in the order of the table.
    pub typed: Vec<(&'static Setting, String)>,
    /// The file of settings.
    pub config: Option<PathBuf>,
}

impl clap::Args for SettingArgs {
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
    let spec = setting.argument;
    let arg = Arg::new(setting.key).help(help(setting));
    let Some(option) = spec.option else {
        return arg.value_name(spec.value_name);
    };
    let arg = arg.long(option).help_heading(setting.group.heading());
    let arg = match spec.alias {
        Some(alias) => arg.alias(alias),
        None => arg,
    };
    match spec.value_when_alone {
        _ if setting.accepts == Accepts::Switch => arg.action(ArgAction::SetTrue),
        Some(value) => arg
            .value_name(spec.value_name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(value),
        None => arg.value_name(spec.value_name).allow_negative_numbers(true),
    }
}

/// The effect, the accepted words and the default.
fn help(setting: &Setting) -> String {
    let choices = match setting.accepts {
        Accepts::Choice(words) => format!(": {}", words.join(", ")),
        _ => String::new(),
    };
    let default = match setting.default {
        Some(default) if setting.accepts != Accepts::Switch => format!(" [{default}]"),
        _ => String::new(),
    };
    let (first, rest) = setting.about.split_at(1);
    format!("{}{rest}{choices}{default}", first.to_uppercase())
}

impl clap::FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in SETTINGS {
            let text = match setting.accepts {
                Accepts::Switch => matches.get_flag(setting.key).then(|| "true".to_owned()),
                _ => matches.get_one::<String>(setting.key).cloned(),
            };
            self.typed.extend(text.map(|text| (setting, text)));
        }
        self.config = matches.get_one::<String>("config").map(PathBuf::from);
        Ok(())
    }
}
