//! `[search.strategy]`: how trials are chosen, trained and scored.

use super::metrics::{DIRECTIONS, read_budgets, read_metrics};
use super::{SamplerChoice, SearchConfig, is_not_here};
use crate::goals::Goals;
use crate::objectives::{OBJECTIVES, Objective, Source};
use crate::space::SpaceRules;
use crate::trial_training::TrialTraining;
use config::{Reader, Sort, Value, did_you_mean, is_same_name, not_here};
use data::SplitName;
use hw::synth::{TARGETS, Target};
use std::time::Duration;
use study::{Direction, SAMPLERS, SamplerEntry, find_sampler};

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

pub(super) fn read_strategy(reader: &mut Reader, space: SpaceRules) -> SearchConfig {
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
    let hardware = if is_named_alone(reader, "hw_runner") {
        None
    } else {
        reader.table("hw_runner", read_hardware)
    };
    let hardware = hardware.unwrap_or_default();
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
        compare_to: hardware.compare_to.unwrap_or(32.0),
        target: hardware.target.unwrap_or(&TARGETS[0]),
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
    let costs = OBJECTIVES.iter().filter(|o| o.source != Source::Software);
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

#[derive(Default)]
struct Hardware {
    compare_to: Option<f64>,
    target: Option<&'static Target>,
}

fn read_hardware(reader: &mut Reader) -> Hardware {
    let targets: Vec<(&str, &'static Target)> =
        TARGETS.iter().map(|target| (target.name, target)).collect();
    let target = reader.table(Objective::Lut.name(), |lut| lut.choice("target", &targets));
    let compare_to = reader.table("average_bitwidth", |bits| {
        bits.number("compare_to", 1.0..=1e6)
    });
    // Costs are always there; a file may name the ones it looks at.
    let others = [Objective::AverageBitwidth, Objective::Lut];
    let costs = OBJECTIVES.iter().filter(|o| o.source != Source::Software);
    for cost in costs.filter(|cost| !others.contains(&cost.objective)) {
        reader.table(cost.name, |_| ());
    }
    for (key, _) in reader.rest() {
        unknown_runner(reader, &key.name, key.span.clone());
    }
    Hardware {
        compare_to: compare_to.flatten(),
        target: target.flatten(),
    }
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
