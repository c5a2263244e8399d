//! `[search]` of a config file: the space, the sampler and the goals.

use crate::format_space::Choices;
use crate::goals::{Budget, Goal, Goals, Side};
use crate::objectives::{OBJECTIVES, Objective, Source};
use crate::space::SpaceRules;
use crate::trial_training::TrialTraining;
use config::{
    Item, Key, Problem, Reader, Sort, Table, Value, did_you_mean, is_same_name, not_here,
};
use data::SplitName;
use passes::transform::redefine_channels::{Redefinition, names_sides};
use passes::{By, Rules};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;
use study::{Direction, SAMPLERS, SamplerConfig, SamplerEntry, find_sampler};

/// Everything that a search follows from besides the network and its rows.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// The choices, by node.
    pub space: SpaceRules,
    /// The sampler with its settings.
    pub sampler: SamplerChoice,
    /// Trials at most.
    pub n_trials: u64,
    /// No new trial is begun after this long.
    pub timeout: Option<Duration>,
    /// Threads; none given: one for each core.
    pub n_jobs: Option<usize>,
    /// The rows that trials are scored on.
    pub split: SplitName,
    /// Number of rows; all if not given.
    pub num_samples: Option<usize>,
    /// Bits that memory density compares with.
    pub compare_to: f64,
    /// Objectives and budgets.
    pub goals: Goals,
    /// Gives up a trial that can no longer reach the front; the sampler decides if not given.
    pub early_stop: Option<bool>,
    /// Training before scoring, if trials are trained.
    pub training: Option<TrialTraining>,
    /// Notes on keys of the file that are accepted and change nothing.
    pub notes: Vec<String>,
}

/// A sampler with its settings.
#[derive(Clone, Debug)]
pub struct SamplerChoice {
    /// The sampler's name.
    pub name: &'static str,
    /// Its settings.
    pub settings: Arc<dyn SamplerConfig>,
    /// `[search.strategy.sampler_config]` as it stands in the file, for a sampler that is chosen later.
    given: Option<Item>,
}

impl SamplerChoice {
    /// The settings as the file gives them.
    pub fn to_json(&self) -> Json {
        self.given.as_ref().map_or_else(|| json!({}), Item::to_json)
    }

    /// Takes another sampler, with the settings that the file gives.
    pub fn replace(&mut self, entry: &'static SamplerEntry) -> Result<(), Vec<Problem>> {
        let empty = Table::default();
        let table = self.given.as_ref().and_then(Item::as_table);
        let span = self.given.as_ref().map_or(0..0, |item| item.span.clone());
        let mut reader = Reader::new(table.unwrap_or(&empty), span);
        (self.name, self.settings) = (entry.name, (entry.read)(&mut reader));
        let problems = reader.finish();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}

/// Names of the space of formats that files of the original may have.
const SPACES: &[(&str, ())] = &[
    ("graph/quantize/mixed_precision_ptq", ()),
    ("graph/quantize/mixed_precision", ()),
];

/// The space of channels was everybody's own in the fourth lab; its names have this word in common.
const CHANNELS: &str = "channel";

const DIRECTIONS: &[(&str, Direction)] = &[
    ("maximize", Direction::Maximize),
    ("minimize", Direction::Minimize),
];

impl SearchConfig {
    /// Reads the table `[search]`; all problems at once.
    pub fn read(table: &Table) -> Result<Self, Vec<Problem>> {
        // What is missing is shown where the table begins.
        let first = table.0.first();
        let span = first.map_or(0..0, |(key, _)| key.span.clone());
        let mut reader = Reader::new(table, span).named("search");
        reader.ignore(&["nas", "sw_runner", "hw_runner"]);
        let space = reader.table("search_space", read_space);
        if space.is_none() {
            reader.missing("[search.search_space]", "say what may be chosen");
        }
        let space = space.unwrap_or(SpaceRules::Formats(no_rules(By::Name)));
        let config = reader.table("strategy", |strategy| read_strategy(strategy, space));
        if config.is_none() {
            reader.missing("[search.strategy]", "say how to search and for what");
        }
        let notes = reader.take_notes();
        let problems = reader.finish();
        match config {
            Some(config) if problems.is_empty() => Ok(Self { notes, ..config }),
            _ => Err(problems),
        }
    }
}

fn read_space(reader: &mut Reader) -> SpaceRules {
    if is_not_here(reader, "name", Sort::SearchSpace) {
        return SpaceRules::Formats(no_rules(By::Name));
    }
    let is_named_channels = match reader.peek("name") {
        Some(Value::Text(name)) => is_channel_space(name),
        _ => false,
    };
    if is_named_channels {
        reader.text("name");
    } else {
        reader.choice("name", SPACES);
    }
    let is_channels = is_named_channels || reader.peek("seed").is_some_and(names_sides);
    if is_channels && !is_named_channels {
        reader.note("[search.search_space.seed] multiplies channels, so this is a search over channels, whatever its name");
    }
    reader.ignore(&["zc", "nas_zero_cost", "config"]);
    let by = reader.table("setup", |setup| {
        setup.ignore(&["model", "dataset", "task", "score_mod", "model_parallel"]);
        By::read(setup)
    });
    let by = by.flatten().unwrap_or(By::Name);
    if is_channels {
        SpaceRules::Channels(read_seed(reader, by, Redefinition::read))
    } else {
        SpaceRules::Formats(read_seed(reader, by, Choices::read))
    }
}

fn is_channel_space(name: &str) -> bool {
    config::plain_name(name).contains(CHANNELS)
}

/// The rules of `[search.search_space.seed]`.
fn read_seed<T>(reader: &mut Reader, by: By, value: fn(&mut Reader) -> T) -> Rules<T> {
    let rules = reader.table("seed", |seed| Rules::read_by(by, seed, value));
    rules.unwrap_or_else(|| {
        reader.missing(
            "[search.search_space.seed]",
            "give choices such as [search.search_space.seed.linear.config]",
        );
        no_rules(by)
    })
}

fn no_rules<T>(by: By) -> Rules<T> {
    Rules {
        by,
        rules: Vec::new(),
        default: None,
    }
}

/// Reports a name of the original that is not here; what else stands in its table is then no matter.
fn is_not_here(reader: &mut Reader, key: &'static str, sort: Sort) -> bool {
    let Some((item, name)) = reader.item(key).and_then(|item| match &item.value {
        Value::Text(name) => Some((item, name)),
        _ => None,
    }) else {
        return false;
    };
    let is_here = match sort {
        Sort::SearchSpace => {
            is_channel_space(name) || SPACES.iter().any(|(known, ())| is_same_name(known, name))
        }
        _ => find_sampler(name).is_ok(),
    };
    let message = not_here(sort, name).filter(|_| !is_here);
    let is_missing = message.is_some();
    if let Some(message) = message {
        reader.problem(item.span.clone(), format!("{key}: {message}"));
        reader.rest();
    }
    is_missing
}

/// Keys of the original's strategies that change nothing here.
const OF_STRATEGY: &[&str] = &[
    "save_every_n_trials",
    "pkl_ckpt",
    "load_path",
    "algorithm",
    "env",
    "device",
    "total_timesteps",
    "save_name",
    "n_steps",
    "n_envs",
    "num_episodes",
    "eval_freq",
    "save_freq",
    "learning_rate",
    "episode_max_len",
    "episodes_max_len",
];

/// Keys of the original's `setup` that change nothing here.
const OF_SETUP: &[&str] = &[
    "model_parallel",
    "runner_style",
    "save_every_n_trials",
    "pkl_ckpt",
    "load_path",
    "algorithm",
    "env",
    "device",
    "mode",
    "save_name",
    "total_trials",
    "total_timesteps",
    "weight_lower_limit",
    "weight_upper_limit",
];

fn read_strategy(reader: &mut Reader, space: SpaceRules) -> SearchConfig {
    let is_missing = is_not_here(reader, "name", Sort::Strategy);
    let named = (!is_missing)
        .then(|| sampler_named(reader, "name"))
        .flatten();
    reader.ignore(OF_STRATEGY);
    let eval_mode = reader.flag("eval_mode").unwrap_or(true);
    let mut software = if is_named_alone(reader, "sw_runner") {
        Software::default()
    } else {
        let software = reader.table("sw_runner", |runner| read_software(runner, !eval_mode));
        software.unwrap_or_default()
    };
    // Files of 2023 have the keys of the runner beside its name.
    if let Some(split) = reader.choice("data_loader", SplitName::WORDS) {
        software.split = split;
    }
    software.num_samples = reader.count("num_samples").or(software.num_samples);
    let compare_to = if is_named_alone(reader, "hw_runner") {
        None
    } else {
        reader.table("hw_runner", read_hardware).flatten()
    };
    let setup = reader.table("setup", |setup| read_setup(setup, named));
    let setup = setup.unwrap_or_default();
    let metrics = reader.table("metrics", read_metrics);
    let (objectives, has_entries) = metrics.unwrap_or_default();
    if !has_entries && !is_missing {
        reader.missing(
            "[search.strategy.metrics]",
            "name what to search for, for example accuracy.direction = \"maximize\"",
        );
    }
    let budgets = reader.table("budget", read_budgets).unwrap_or_default();
    let sampler = named.or(setup.sampler).or_else(|| sampler_entry("tpe"));
    let sampler = sampler.expect("tpe is in the table");
    let given = reader.item("sampler_config").cloned();
    let settings = reader.table("sampler_config", sampler.read);
    SearchConfig {
        space,
        sampler: SamplerChoice {
            name: sampler.name,
            settings: settings.unwrap_or_else(sampler.defaults),
            given,
        },
        n_trials: setup.n_trials.unwrap_or(20),
        timeout: setup.timeout,
        n_jobs: setup.n_jobs,
        split: software.split,
        num_samples: software.num_samples,
        compare_to: compare_to.unwrap_or(32.0),
        goals: Goals {
            objectives,
            sum: setup
                .is_sum
                .then_some(setup.direction.unwrap_or(Direction::Maximize)),
            budgets,
        },
        early_stop: setup.early_stop,
        training: (!eval_mode).then(|| software.training.unwrap_or_default()),
        notes: Vec::new(),
    }
}

/// True for `sw_runner = "basic_evaluation"`: a runner by its name alone. One that is not here is noted.
fn is_named_alone(reader: &mut Reader, key: &'static str) -> bool {
    let item = reader.item(key);
    let Some((item, name)) = item.and_then(|item| match &item.value {
        Value::Text(name) => Some((item, name)),
        _ => None,
    }) else {
        return false;
    };
    if !is_runner(name) {
        unknown_runner(reader, name, item.span.clone());
    }
    true
}

/// True for a runner, or for a cost that stands for one.
fn is_runner(name: &str) -> bool {
    let runners = ["basic_evaluation", "basic_train"].into_iter();
    let mut names = runners.chain(OBJECTIVES.iter().map(|entry| entry.name));
    names.any(|known| is_same_name(known, name))
}

/// Notes a runner of the original that is not here; any other is a problem.
fn unknown_runner(reader: &mut Reader, name: &str, span: config::Span) {
    if let Some(reason) = not_here(Sort::Runner, name) {
        reader.note(format!("{reason}; it has no effect"));
        return;
    }
    let costs = OBJECTIVES.iter().filter(|o| o.source == Source::Hardware);
    let names = ["basic_evaluation", "basic_train"].into_iter();
    let close = did_you_mean(name, names.chain(costs.map(|entry| entry.name)));
    reader.problem(span, format!("unknown runner '{name}'{close}"));
}

/// A sampler by name; `optuna` leaves the choice to `setup.sampler`.
fn sampler_named(reader: &mut Reader, key: &'static str) -> Option<&'static SamplerEntry> {
    let item = reader.item(key)?;
    let Value::Text(name) = &item.value else {
        reader.problem(
            item.span.clone(),
            format!("{key}: {} is not a word", item.value),
        );
        return None;
    };
    let found = sampler_entry(name);
    let optuna = (key == "name").then_some("optuna");
    if found.is_none() && !optuna.is_some_and(|optuna| is_same_name(optuna, name)) {
        let samplers = SAMPLERS.iter().map(|entry| entry.name);
        let names: Vec<&str> = optuna.into_iter().chain(samplers).collect();
        let close = did_you_mean(name, names.iter().copied());
        let message = format!("{key}: '{name}' is not one of {}{close}", names.join(", "));
        reader.problem(item.span.clone(), message);
    }
    found
}

fn sampler_entry(name: &str) -> Option<&'static SamplerEntry> {
    find_sampler(name).ok()
}

struct Software {
    split: SplitName,
    num_samples: Option<usize>,
    training: Option<TrialTraining>,
}

/// Trials are scored on rows that training has not seen.
impl Default for Software {
    fn default() -> Self {
        Self {
            split: SplitName::Val,
            num_samples: None,
            training: None,
        }
    }
}

fn read_software(reader: &mut Reader, is_trained: bool) -> Software {
    let mut software = Software::default();
    reader.table("basic_evaluation", |evaluation| {
        evaluation.ignore(&["name", "dataloader"]);
        software.split = evaluation
            .choice("data_loader", SplitName::WORDS)
            .unwrap_or(SplitName::Val);
        software.num_samples = evaluation.count("num_samples");
    });
    software.training = reader.table("basic_train", |train| {
        if !is_trained {
            let place = train.name().to_owned();
            train.note(format!(
                "[{place}] has no effect: trials are not trained; set eval_mode = false in [search.strategy]"
            ));
        }
        TrialTraining::read(train)
    });
    for (key, _) in reader.rest() {
        unknown_runner(reader, &key.name, key.span.clone());
    }
    software
}

fn read_hardware(reader: &mut Reader) -> Option<f64> {
    let compare_to = reader.table("average_bitwidth", |bits| {
        bits.number("compare_to", 1.0..=1e6)
    });
    // Costs are always there; a file may name the ones it looks at.
    let costs = OBJECTIVES.iter().filter(|o| o.source == Source::Hardware);
    for cost in costs.filter(|cost| cost.objective != Objective::AverageBitwidth) {
        reader.table(cost.name, |_| ());
    }
    for (key, _) in reader.rest() {
        unknown_runner(reader, &key.name, key.span.clone());
    }
    compare_to.flatten()
}

#[derive(Default)]
struct Setup {
    sampler: Option<&'static SamplerEntry>,
    n_trials: Option<u64>,
    n_jobs: Option<usize>,
    timeout: Option<Duration>,
    is_sum: bool,
    direction: Option<Direction>,
    early_stop: Option<bool>,
}

/// `named` is the sampler that the strategy itself names.
fn read_setup(reader: &mut Reader, named: Option<&'static SamplerEntry>) -> Setup {
    reader.ignore(OF_SETUP);
    let jobs = reader.whole("n_jobs", -1..=4096);
    let sampler = sampler_named(reader, "sampler");
    if let (Some(named), Some(sampler)) = (named, sampler)
        && named.name != sampler.name
    {
        let (named, sampler) = (named.name, sampler.name);
        let reason = format!(": [search.strategy] says name = \"{named}\", not {sampler}");
        reader.note_without_effect(&["sampler"], &reason);
    }
    let is_sum = reader.flag("sum_scaled_metrics").unwrap_or(false);
    let direction = reader.choice("direction", DIRECTIONS);
    if direction.is_some() && !is_sum {
        let reason = ": it is that of a sum, and each metric has its own; set sum_scaled_metrics = true to sum them";
        reader.note_without_effect(&["direction"], reason);
    }
    Setup {
        sampler,
        n_trials: reader.count("n_trials").map(|n| n as u64),
        // Optuna's −1: all cores, as when nothing is said.
        n_jobs: jobs
            .and_then(|jobs| usize::try_from(jobs).ok())
            .filter(|&jobs| jobs > 0),
        timeout: reader
            .number("timeout", 0.0..=1e9)
            .map(Duration::from_secs_f64),
        is_sum,
        direction,
        early_stop: reader.flag("early_stop"),
    }
}

/// The objectives, and true when the table says anything.
fn read_metrics(reader: &mut Reader) -> (Vec<Goal>, bool) {
    let mut objectives = Vec::new();
    let entries = reader.rest();
    let has_entries = !entries.is_empty();
    for (key, item) in entries {
        let Some(objective) = known_objective(reader, key, &key.name) else {
            continue;
        };
        let goal = reader.inner(&key.name, item, |metric_reader| {
            metric_reader.ignore(&["lower_bound", "upper_bound"]);
            Goal {
                objective,
                scale: metric_reader.number("scale", -1e12..=1e12).unwrap_or(1.0),
                direction: metric_reader
                    .choice("direction", DIRECTIONS)
                    .unwrap_or(objective.entry().direction),
            }
        });
        objectives.extend(goal);
    }
    leave_out_unscaled(reader, &mut objectives);
    (objectives, has_entries)
}

/// Leaves out metrics whose scale is 0, with a note; a search for nothing else is a problem.
fn leave_out_unscaled(reader: &mut Reader, objectives: &mut Vec<Goal>) {
    if objectives.iter().all(|goal| goal.scale == 0.0) {
        if let Some(goal) = objectives.first() {
            let name = goal.objective.name();
            let message = format!("{name}: scale is 0, so nothing would be searched for");
            reader.problem(reader.span(), message);
        }
        return;
    }
    objectives.retain(|goal| {
        let name = goal.objective.name();
        let counts = goal.scale != 0.0;
        if !counts {
            reader.note_without_effect(&[name], ": its scale is 0");
        }
        counts
    });
}

/// `max_average_bitwidth`, `max_bitops`, `min_accuracy` and so on: `max_` or `min_` before any metric.
fn read_budgets(reader: &mut Reader) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for (key, item) in reader.rest() {
        let sides = [("max_", Side::AtMost), ("min_", Side::AtLeast)];
        let Some((name, side)) = sides
            .iter()
            .find_map(|(word, side)| Some((key.name.strip_prefix(word)?, *side)))
        else {
            reader.problem(
                key.span.clone(),
                format!(
                    "unknown key '{}'; a budget is max_METRIC or min_METRIC",
                    key.name
                ),
            );
            continue;
        };
        let Some(objective) = known_objective(reader, key, name) else {
            continue;
        };
        match item.value {
            Value::Int(limit) => budgets.push(Budget {
                objective,
                side,
                limit: limit as f64,
            }),
            Value::Float(limit) if limit.is_finite() => budgets.push(Budget {
                objective,
                side,
                limit,
            }),
            ref other => reader.problem(
                item.span.clone(),
                format!("{}: {other} is not a number", key.name),
            ),
        }
    }
    budgets
}

fn known_objective(reader: &mut Reader, key: &Key, name: &str) -> Option<Objective> {
    let found = Objective::find(name);
    if found.is_none() {
        let names = OBJECTIVES.iter().map(|entry| entry.name);
        let close = did_you_mean(name, names.clone());
        let known: Vec<&str> = names.collect();
        let message = not_here(Sort::Metric, name).unwrap_or_else(|| {
            let known = known.join(", ");
            format!("unknown metric '{name}'; known metrics: {known}{close}")
        });
        reader.problem(key.span.clone(), message);
    }
    found
}
