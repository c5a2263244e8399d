//! The effective configuration: defaults, then the file, then the command line, for every setting.
//!
//! [`table`] declares the settings. A command takes typed fields, `settings.batch_size`; only a sweep sets one by name, and
//! that goes through the same table.

mod arguments;
mod file;
mod names;
mod setting;
mod table;
mod value;

use crate::checkpoints;
use crate::hardware::Hardware;
use crate::output::{Console, Level, fit};
use anyhow::{Result, bail};
pub use arguments::{SettingArgs, hide_unused};
use config::did_you_mean;
use file::Scope;
pub use file::Source;
use passes::Program;
use report::{Column, Table};
use search::config::SearchConfig;
use serde_json::{Map, Value as Json};
pub use setting::{Accepts, Group, Setting};
use std::collections::BTreeMap;
use table::{Given, Layer, Layers};
pub use table::{SETTINGS, Settings};
pub use value::{
    Accelerator, BatchAxis, LearnScales, LoadType, LogLevel, Optimizer, Precision, ReportTo,
    Resume, ScalesPer, Standardize, TrainNorms, ValSplit, Value,
};

/// The columns of the table that a run starts with.
pub const COLUMNS: &[Column] = &[
    Column::words("Name", "the key of a setting in a file"),
    Column::words("Default", "the value when nobody gives one"),
    Column::words("Config. File", "the value in the file of --config"),
    Column::words("Manual Override", "the value on the command line"),
    Column::words("Effective", "the value the run uses"),
];

/// The purpose of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `ch train`: all settings count.
    Train,
    /// `ch test` and `ch predict`: those of training do not.
    Use,
    /// `ch emit`: as for using, with a table of the file.
    Emit,
    /// `ch transform`: as for using, but files are written.
    Transform,
    /// `ch search`: as for transforming, with another table of the file.
    Search,
    /// `ch run`: everything.
    Run,
}

impl Action {
    /// True when settings of a group change something.
    pub fn uses(self, group: Group) -> bool {
        match self {
            Self::Train | Self::Run => true,
            Self::Transform | Self::Search => group != Group::Training,
            Self::Use | Self::Emit => !matches!(group, Group::Training | Group::Output),
        }
    }

    /// True when a table of the file is read.
    fn reads(self, section: &str) -> bool {
        match self {
            Self::Train | Self::Use => false,
            Self::Emit => section == "emit",
            Self::Transform => section == "passes",
            Self::Search => section == "search",
            Self::Run => true,
        }
    }
}

/// The configuration of a run: settings, and the tables of the file.
pub struct Config {
    /// The effective settings.
    pub settings: Settings,
    /// `[passes]`, if the file has it and the action reads it.
    pub passes: Option<Program>,
    /// `[search]`, if the file has it and the action reads it.
    pub search: Option<SearchConfig>,
    /// The tables of hardware, if the file has them and the action reads them.
    pub hardware: Hardware,
    /// The file, to show the places of problems that are found later.
    pub source: Source,
    /// The purpose.
    pub action: Action,
    /// Keys and tables of the file that change nothing.
    without_effect: Vec<String>,
    /// Notes on the tables of the file.
    notes: Vec<String>,
}

impl Config {
    /// Reads the file, if any, and checks every value that the action uses.
    pub fn resolve(args: &SettingArgs, action: Action) -> Result<Self> {
        Self::resolve_pipeline(args, action, None)
    }

    /// The same with the pipeline of this name, whichever the file names.
    pub fn resolve_pipeline(
        args: &SettingArgs,
        action: Action,
        pipeline: Option<&str>,
    ) -> Result<Self> {
        let scope = Scope {
            action,
            pipeline,
            typed: &args.typed,
        };
        let (source, content) = match &args.config {
            Some(path) => file::read(path, scope)?,
            None => file::read_source(Source::default(), scope)?,
        };
        let mut layers = Layers {
            file: content.settings,
            command_line: Layer::default(),
        };
        set_all(&mut layers.command_line, &args.typed, Setting::spelling)?;
        move_lone_dataset(&mut layers);
        Ok(Self {
            settings: Settings::from(layers).checked()?,
            passes: content.passes,
            search: content.search,
            hardware: content.hardware,
            source,
            action,
            without_effect: content.without_effect,
            notes: content.notes,
        })
    }

    /// Prints the table of settings that differ from their defaults, of all when debugging, and a note for each that
    /// changes nothing.
    pub fn print(&self, console: &mut Console) {
        let table = self
            .settings
            .table(self.action, console.shows(Level::Debug));
        if !table.rows.is_empty() {
            let text = fit::table(&table, console.stream(), "a wider terminal");
            console.print(&text);
        }
        let keys = self.without_effect.iter();
        let keys = keys.map(|key| format!("'{key}' in the file has no effect on this action"));
        let notes = keys.chain(self.notes.iter().cloned());
        for note in notes.chain(self.settings.notes(self.action)) {
            console.note(&note);
        }
    }
}

fn is_cpu(accelerator: Accelerator) -> bool {
    matches!(accelerator, Accelerator::Auto | Accelerator::Cpu)
}

/// Reads texts into a layer, or returns every problem, in the order of the keys.
fn set_all(
    layer: &mut Layer,
    texts: &[(&'static Setting, String)],
    name: fn(&Setting) -> String,
) -> Result<()> {
    let mut problems = BTreeMap::new();
    for (setting, text) in texts {
        if let Err(problem) = (setting.set)(layer, text) {
            problems.insert(setting.key, format!("{}: {problem}", name(setting)));
        }
    }
    if !problems.is_empty() {
        let problems: Vec<String> = problems.into_values().collect();
        bail!("{}", problems.join("; "));
    }
    Ok(())
}

/// The settings of these keys, with their values as texts.
pub fn typed(values: &Map<String, Json>) -> Result<Vec<(&'static Setting, String)>> {
    let mut texts = Vec::new();
    for (key, value) in values {
        let known = SETTINGS.iter().find(|setting| setting.key == key);
        let Some(setting) = known else {
            let keys = SETTINGS.iter().map(|setting| setting.key);
            bail!("unknown setting '{key}'{}", did_you_mean(key, keys));
        };
        let text = match value {
            Json::Null if setting.default.is_none() => continue,
            Json::Null => bail!("{key} has no value"),
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        texts.push((setting, text));
    }
    Ok(texts)
}

/// `ch test jsc-sim --load graph.mz`: the file brings the model, so that a lone name is the dataset's.
fn move_lone_dataset(layers: &mut Layers) {
    let load = layers.get(|layer| &layer.load_name);
    let brings_graph = load.is_some_and(|path| checkpoints::brings_graph(&path));
    let has_dataset = layers.get(|layer| &layer.dataset).is_some();
    if !brings_graph || has_dataset {
        return;
    }
    let typed = &mut layers.command_line;
    let is_dataset =
        |name: &mut Given<String>| data::DATASETS.iter().any(|entry| entry.name == name.value);
    if let Some(name) = typed.model.take_if(is_dataset) {
        typed.dataset = Some(name);
    }
}

impl Settings {
    /// These settings on top of those an earlier run used, as [`Settings::effective`] wrote them.
    pub fn over(&self, earlier: &Map<String, Json>) -> Result<Self> {
        let mut layers = self.layers.clone();
        let mut texts = typed(earlier)?;
        let name = |setting: &Setting| setting.key.to_owned();
        // All are checked, also those that something of now stands over.
        set_all(&mut Layer::default(), &texts, name)?;
        texts.retain(|(setting, _)| {
            setting.group != Group::Logging && (setting.text)(&layers.file).is_none()
        });
        set_all(&mut layers.file, &texts, name)?;
        // That the earlier run went on with another one does not concern this one.
        layers.file.resume.clone_from(&self.layers.file.resume);
        Self::from(layers).checked()
    }

    /// The defaults, with some settings given by their keys.
    pub fn of_keys(values: &Map<String, Json>) -> Result<Self> {
        let mut layers = Layers::default();
        set_all(&mut layers.command_line, &typed(values)?, |setting| {
            setting.key.to_owned()
        })?;
        Self::from(layers).checked()
    }

    /// The same settings with some given by hand.
    pub fn with(&self, overrides: &[(&'static Setting, String)]) -> Result<Self> {
        let mut layers = self.layers.clone();
        set_all(&mut layers.command_line, overrides, Setting::spelling)?;
        Self::from(layers).checked()
    }

    /// Runs on the CPU what a file wants on another machine; on the command line that is an error.
    fn checked(mut self) -> Result<Self> {
        let typed = &self.layers.command_line;
        let accelerator = typed.accelerator.as_ref().map(|given| given.value);
        let gpus = typed.gpu.as_ref().map(|given| given.value);
        if accelerator.is_some_and(|word| !is_cpu(word)) || gpus.is_some_and(|gpus| gpus > 0) {
            bail!("there is no GPU back end; leave --accelerator at auto or cpu and --gpu at 0");
        }
        if !is_cpu(self.accelerator) {
            self.accelerator = Accelerator::Cpu;
        }
        self.gpu = 0;
        Ok(self)
    }

    /// A note on a machine of the file that is not there.
    fn machine_note(&self) -> Option<String> {
        let (file, typed) = (&self.layers.file, &self.layers.command_line);
        let accelerator = file.accelerator.as_ref();
        let accelerator = accelerator.filter(|given| !is_cpu(given.value));
        let accelerator = accelerator.filter(|_| typed.accelerator.is_none());
        let accelerator = accelerator.map(|given| format!("accelerator = \"{}\"", given.text));
        let gpus = file.gpu.as_ref().filter(|given| given.value > 0);
        let gpus = gpus.filter(|_| typed.gpu.is_none());
        let gpus = gpus.map(|given| format!("gpu = {}", given.text));
        let wanted = accelerator.or(gpus)?;
        Some(format!(
            "{wanted} in the file: there is no GPU back end, so this runs on the CPU"
        ))
    }

    /// The number of threads, if the file or the command line gives one.
    pub fn given_workers(&self) -> Option<usize> {
        self.layers.get(|layer| &layer.num_workers)
    }

    /// True when the command line names the model.
    pub fn is_model_typed(&self) -> bool {
        self.layers.command_line.model.is_some()
    }

    /// The kind of checkpoint that the command line demands; a file's is a note where it is another.
    pub fn demanded_load_type(&self) -> LoadType {
        let typed = self.layers.command_line.load_type.as_ref();
        typed.map_or(LoadType::Auto, |given| given.value)
    }

    /// The amount of printing.
    pub fn level(&self) -> Level {
        let typed = &self.layers.command_line;
        let level_is_typed = typed.log_level.is_some() && typed.debug.is_none();
        match self.log_level {
            _ if self.debug && !level_is_typed => Level::Debug,
            LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Warning => Level::Warning,
            LogLevel::Error | LogLevel::Critical => Level::Error,
        }
    }

    /// Notes on settings that were given and change nothing in an action.
    fn notes(&self, action: Action) -> impl Iterator<Item = String> {
        let typed = &self.layers.command_line;
        let unused = SETTINGS
            .iter()
            .filter(move |setting| !action.uses(setting.group) && (setting.text)(typed).is_some())
            .map(|setting| format!("{} has no effect on this action", setting.spelling()));
        let precision = self.trainer_precision;
        let is_32 = matches!(precision, Precision::Full | Precision::FullTrue);
        let precision = (action.uses(Group::Training) && !is_32).then(|| {
            let word = precision.word();
            format!("trainer_precision {word} has no effect: training is done in 32 bits")
        });
        let reports = action.uses(Group::Training) && self.report_to == ReportTo::Wandb;
        let report =
            reports.then(|| "report_to wandb has no effect: nothing is sent anywhere".to_owned());
        unused
            .chain(precision)
            .chain(report)
            .chain(self.machine_note())
    }

    /// The table `Name · Default · Config. File · Manual Override · Effective` of the settings an action uses: all, or those
    /// that somebody gave another value than the default.
    fn table(&self, action: Action, all: bool) -> Table {
        let defaults = Self::from(Layers::default());
        let mut table = Table::with_columns(COLUMNS);
        for setting in SETTINGS.iter().filter(|setting| action.uses(setting.group)) {
            let file = (setting.text)(&self.layers.file);
            let typed = (setting.text)(&self.layers.command_line);
            let is_default = (setting.json)(self) == (setting.json)(&defaults);
            let is_overridden = file.is_some() && typed.is_some();
            if !all && is_default && !is_overridden {
                continue;
            }
            let used = self.used(setting, action);
            let effective = used.as_deref().or(typed).or(file).or(setting.default);
            let cells = [setting.default, file, typed, effective].map(|text| text.unwrap_or("–"));
            table.push([setting.key].into_iter().chain(cells));
        }
        table
    }

    /// The value that a run uses, where it is not the text that was given.
    fn used(&self, setting: &Setting, action: Action) -> Option<String> {
        if setting.key == "num_workers" {
            // Unless somebody gives them, the file of a search does.
            let is_open = action == Action::Search && self.given_workers().is_none();
            return Some(if is_open {
                "n_jobs".to_owned()
            } else {
                self.threads().to_string()
            });
        }
        // A choice, a form and a number may be given in several spellings, and a machine is the one that is there.
        match (setting.accepts, (setting.json)(self)) {
            (Accepts::Choice(_) | Accepts::Form(..), Json::String(word)) => Some(word),
            (Accepts::Whole(_), number @ Json::Number(_)) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Threads of a run. Threads beyond the cores would only wait for each other.
    pub fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        match self.num_workers {
            0 => cores,
            threads => threads.min(cores),
        }
    }

    /// The effective values, for `run.json` and checkpoints.
    pub fn effective(&self) -> Map<String, Json> {
        let pair = |setting: &Setting| (setting.key.to_owned(), (setting.json)(self));
        SETTINGS.iter().map(pair).collect()
    }
}

#[cfg(test)]
mod original_files;
#[cfg(test)]
mod tests;
