//! The effective configuration: defaults, then the file, then the command line, for every setting.

mod file;
mod settings;

use crate::nearest::did_you_mean;
use crate::table::{Column, render};
use anyhow::{Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value as Json};
pub use settings::{Kind, SETTINGS, Setting};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The table that a run starts with.
pub const COLUMNS: &[Column] = &[
    Column::words("Name", "the key of a setting in a file"),
    Column::words("Default", "the value when nobody gives one"),
    Column::words("Config. File", "the value in the file of --config"),
    Column::words("Manual Override", "the value on the command line"),
    Column::words("Effective", "the value the run uses"),
];

/// What the command line gives: settings by key, and the names given by position.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: BTreeMap<&'static str, String>,
    config: Option<PathBuf>,
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        let names = Arg::new("names")
            .value_name("MODEL] [DATASET")
            .num_args(0..=2)
            .help("a model and a dataset");
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .help("a TOML file of settings");
        let options = SETTINGS
            .iter()
            .filter(|setting| !setting.option.is_empty())
            .map(option);
        command.arg(names).arg(config).args(options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(setting: &Setting) -> Arg {
    let default = if setting.default.is_empty() {
        String::new()
    } else {
        format!(" [{}]", setting.default)
    };
    let arg = Arg::new(setting.key)
        .long(setting.option)
        .help(format!("{}{default}", setting.about));
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
        _ => arg.value_name("VALUE").allow_negative_numbers(true),
    }
}

impl clap::FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in SETTINGS.iter().filter(|setting| !setting.option.is_empty()) {
            let value = match setting.kind {
                Kind::Switch => matches.get_flag(setting.key).then(|| "true".to_owned()),
                _ => matches.get_one::<String>(setting.key).cloned(),
            };
            self.values.extend(value.map(|value| (setting.key, value)));
        }
        let names = matches.get_many::<String>("names").into_iter().flatten();
        self.values
            .extend(["model", "dataset"].into_iter().zip(names.cloned()));
        self.config = matches.get_one::<String>("config").map(PathBuf::from);
        Ok(())
    }
}

/// Every setting with where its value comes from.
#[derive(Clone, Debug)]
pub struct Config {
    file: BTreeMap<&'static str, String>,
    manual: BTreeMap<&'static str, String>,
    /// Things to say before a run: settings that have no effect.
    pub notes: Vec<String>,
}

impl Config {
    /// Reads the file, if any, and checks every value.
    pub fn resolve(given: &Given) -> Result<Self> {
        let file = given
            .config
            .as_deref()
            .map(file::read)
            .transpose()?
            .unwrap_or_default();
        let notes = file
            .without_effect
            .iter()
            .map(|key| format!("'{key}' has no effect here"));
        let config = Self {
            notes: notes.collect(),
            file: file.values,
            manual: given.values.clone(),
        };
        config.check()?;
        Ok(config)
    }

    /// These settings on top of those an earlier run used, as [`Config::effective`] wrote them.
    pub fn over(&self, earlier: &Json) -> Result<Self> {
        let mut config = self.clone();
        for setting in SETTINGS.iter().filter(|setting| setting.key != "resume") {
            let value = match &earlier[setting.key] {
                Json::Null => continue,
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            config.file.entry(setting.key).or_insert(value);
        }
        config.check()?;
        Ok(config)
    }

    /// The same configuration with some settings given by hand.
    pub fn with(&self, overrides: &[(String, String)]) -> Result<Self> {
        let mut config = self.clone();
        for (key, value) in overrides {
            let Some(setting) = settings::find(key) else {
                bail!(
                    "unknown setting '{key}'{}",
                    did_you_mean(key, SETTINGS.iter().map(|s| s.key))
                );
            };
            config.manual.insert(setting.key, value.clone());
        }
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let problems: Vec<String> = self
            .manual
            .iter()
            .filter_map(|(key, value)| {
                let setting = settings::find(key)?;
                let name = if setting.option.is_empty() {
                    setting.key.to_owned()
                } else {
                    format!("--{}", setting.option)
                };
                Some(format!("{name}: {}", setting.kind.problem(value)?))
            })
            .collect();
        if !problems.is_empty() {
            bail!("{}", problems.join("; "));
        }
        if self.text("accelerator") == Some("gpu") || self.whole("gpu") > 0 {
            bail!("there is no GPU back end; leave --accelerator at auto or cpu and --gpu at 0");
        }
        Ok(())
    }

    /// The value of a setting; `None` when it has none.
    pub fn text(&self, key: &str) -> Option<&str> {
        let default = settings::find(key)
            .map(|setting| setting.default)
            .filter(|text| !text.is_empty());
        let given = self.manual.get(key).or_else(|| self.file.get(key));
        given.map(String::as_str).or(default)
    }

    /// A path.
    pub fn path(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(PathBuf::from)
    }

    /// A whole number; the table has checked it.
    pub fn whole(&self, key: &str) -> i64 {
        self.text(key)
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }

    /// A number; the table has checked it.
    pub fn number(&self, key: &str) -> f64 {
        self.text(key)
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }

    /// A switch.
    pub fn is_on(&self, key: &str) -> bool {
        self.text(key) == Some("true")
    }

    /// A setting that an action cannot do without.
    pub fn required(&self, key: &'static str, hint: &str) -> Result<&str> {
        match self.text(key) {
            Some(value) => Ok(value),
            None => bail!("no {key} given; {hint}"),
        }
    }

    /// The table `Name · Default · Config. File · Manual Override · Effective`.
    pub fn table(&self) -> String {
        let or_dash = |text: Option<&str>| text.unwrap_or("–").to_owned();
        let row = |setting: &Setting| {
            vec![
                setting.key.to_owned(),
                or_dash(Some(setting.default).filter(|text| !text.is_empty())),
                or_dash(self.file.get(setting.key).map(String::as_str)),
                or_dash(self.manual.get(setting.key).map(String::as_str)),
                or_dash(self.text(setting.key)),
            ]
        };
        render(COLUMNS, &SETTINGS.iter().map(row).collect::<Vec<_>>(), None)
    }

    /// The effective values, for `run.json` and checkpoints.
    pub fn effective(&self) -> Map<String, Json> {
        let pair = |setting: &Setting| {
            let text = self.text(setting.key);
            let value = match (setting.kind, text) {
                (_, None) => Json::Null,
                (Kind::Whole(..), Some(text)) => text.parse::<i64>().map_or(Json::Null, Json::from),
                (Kind::Number, Some(text)) => text.parse::<f64>().map_or(Json::Null, Json::from),
                (Kind::Switch, Some(text)) => Json::Bool(text == "true"),
                (_, Some(text)) => Json::from(text),
            };
            (setting.key.to_owned(), value)
        };
        SETTINGS.iter().map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(file: &[(&'static str, &str)], manual: &[(&'static str, &str)]) -> Config {
        let map = |pairs: &[(&'static str, &str)]| {
            pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect()
        };
        Config {
            file: map(file),
            manual: map(manual),
            notes: Vec::new(),
        }
    }

    /// For every setting: default < file < command line, also when the typed value equals the default.
    #[test]
    fn the_command_line_wins_over_the_file_and_the_file_over_the_default() {
        for setting in SETTINGS {
            let default = Some(setting.default).filter(|text| !text.is_empty());
            assert_eq!(
                config(&[], &[]).text(setting.key),
                default,
                "{}",
                setting.key
            );
            assert_eq!(
                config(&[(setting.key, "a")], &[]).text(setting.key),
                Some("a")
            );
            let both = config(&[(setting.key, "a")], &[(setting.key, setting.default)]);
            assert_eq!(
                both.text(setting.key),
                Some(setting.default),
                "{}",
                setting.key
            );
        }
    }

    #[test]
    fn every_default_is_a_value_its_setting_accepts() {
        for setting in SETTINGS
            .iter()
            .filter(|setting| !setting.default.is_empty())
        {
            assert_eq!(
                setting.kind.problem(setting.default),
                None,
                "{}",
                setting.key
            );
        }
    }
}
