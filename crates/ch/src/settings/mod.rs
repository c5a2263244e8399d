//! The effective configuration: defaults, then the file, then the command line, for every setting.

mod arguments;
mod catalog;
mod file;

use crate::output::Level;
use crate::table::{Column, render};
use anyhow::{Result, bail};
pub use arguments::{Given, hide_unused};
pub use catalog::{Group, Kind, SETTINGS, Setting};
pub use file::Document;
use serde_json::{Map, Value as Json};
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

/// What the settings are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `ch train`: all settings count.
    Train,
    /// `ch test` and `ch predict`: those of training do not.
    Use,
    /// `ch transform`: as for using, but files are written.
    Transform,
    /// `ch search`: as for transforming, with another table of the file.
    Search,
    /// `ch run`: everything.
    Run,
}

impl Action {
    /// Whether settings of a group change anything.
    pub fn uses(self, group: Group) -> bool {
        match self {
            Self::Train | Self::Run => true,
            Self::Transform | Self::Search => group != Group::Training,
            Self::Use => !matches!(group, Group::Training | Group::Output),
        }
    }

    /// Whether a table of the file is read.
    fn reads(self, section: &str) -> bool {
        match self {
            Self::Train | Self::Use => false,
            Self::Transform => section == "passes",
            Self::Search => section == "search",
            Self::Run => true,
        }
    }
}

/// Every setting with where its value comes from.
#[derive(Clone, Debug)]
pub struct Config {
    file: BTreeMap<&'static str, String>,
    manual: BTreeMap<&'static str, String>,
    /// Keys of the file that change nothing.
    without_effect: Vec<String>,
    /// The file, for tables that single actions read.
    document: Document,
}

impl Config {
    /// Reads the file, if any, and checks every value that the action uses.
    pub fn resolve(given: &Given, action: Action) -> Result<Self> {
        let file = given
            .config
            .as_deref()
            .map(|path| file::read(path, action))
            .transpose()?
            .unwrap_or_default();
        let config = Self {
            without_effect: file.without_effect,
            document: file.document,
            file: file.values,
            manual: given.values.clone(),
        };
        let config = config.with_names_in_place();
        config.check()?;
        Ok(config)
    }

    /// `ch test jsc-sim --load graph.mz`: the file brings the model, so that a lone name is the dataset's.
    fn with_names_in_place(mut self) -> Self {
        let brings_graph = self
            .path("load_name")
            .is_some_and(|path| path.extension().is_some_and(|e| e == "mz"));
        let lone = self
            .manual
            .get("model")
            .filter(|_| self.text("dataset").is_none())
            .cloned();
        let is_dataset = |name: &String| data::DATASETS.iter().any(|entry| entry.name == name);
        if let Some(name) = lone.filter(|name| brings_graph && is_dataset(name)) {
            self.manual.remove("model");
            self.manual.insert("dataset", name);
        }
        self
    }

    /// These settings on top of those an earlier run used, as [`Config::effective`] wrote them.
    pub fn over(&self, earlier: &Json) -> Result<Self> {
        let mut config = self.clone();
        let stays = |setting: &&Setting| setting.key != "resume" && setting.group != Group::Logging;
        for setting in SETTINGS.iter().filter(stays) {
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
    pub fn with(&self, overrides: &[(&'static str, String)]) -> Result<Self> {
        let mut config = self.clone();
        config.manual.extend(overrides.iter().cloned());
        config.check()?;
        Ok(config)
    }

    /// The same configuration, with a value for a setting that has none.
    #[must_use]
    pub fn or_else(mut self, key: &'static str, value: &str) -> Self {
        if self.text(key).is_none() {
            self.file.insert(key, value.to_owned());
        }
        self
    }

    fn check(&self) -> Result<()> {
        let problems: Vec<String> = self
            .manual
            .iter()
            .filter_map(|(key, value)| {
                let setting = catalog::find(key)?;
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

    /// The file, for tables that single actions read.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The value of a setting; `None` when it has none.
    pub fn text(&self, key: &str) -> Option<&str> {
        let default = catalog::find(key)
            .map(|setting| setting.default)
            .filter(|text| !text.is_empty());
        let given = self.manual.get(key).or_else(|| self.file.get(key));
        given.map(String::as_str).or(default)
    }

    /// Whether the file or the command line gives a setting.
    pub fn is_given(&self, key: &str) -> bool {
        self.manual.contains_key(key) || self.file.contains_key(key)
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

    /// How much is said.
    pub fn level(&self) -> Level {
        let level_is_typed =
            self.manual.contains_key("log_level") && !self.manual.contains_key("debug");
        match self.text("log_level") {
            _ if self.is_on("debug") && !level_is_typed => Level::Debug,
            Some("debug") => Level::Debug,
            Some("warning") => Level::Warning,
            Some("error" | "critical") => Level::Error,
            _ => Level::Info,
        }
    }

    /// What to say before a run: settings that were given and change nothing in this action.
    pub fn notes(&self, action: Action) -> Vec<String> {
        let sections = self.document.section_names();
        let unread = sections
            .filter(|name| !action.reads(name))
            .map(str::to_owned);
        let keys = self.without_effect.iter().cloned().chain(unread);
        let of_file = keys.map(|key| format!("'{key}' in the file has no effect on this action"));
        let of_training = SETTINGS
            .iter()
            .filter(|setting| !action.uses(setting.group))
            .filter(|setting| self.manual.contains_key(setting.key))
            .map(|setting| format!("--{} has no effect on this action", setting.option));
        let precision = self
            .text("trainer_precision")
            .filter(|text| action.uses(Group::Training) && !text.starts_with("32"))
            .map(|text| {
                format!("trainer_precision {text} has no effect: training is done in 32 bits")
            });
        of_file.chain(of_training).chain(precision).collect()
    }

    /// The table `Name · Default · Config. File · Manual Override · Effective` of the settings an action uses.
    pub fn table(&self, action: Action) -> String {
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
        let used = SETTINGS.iter().filter(|setting| action.uses(setting.group));
        render(COLUMNS, &used.map(row).collect::<Vec<_>>(), None)
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
mod tests;
