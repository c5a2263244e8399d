//! `ch train … --sweep KEY=A,B`: a training for every combination, one table and one chart.

mod chart;
mod results;
mod summary;

use super::check_rows;
use super::fit::{TrainRun, Trained};
use crate::interrupt::stop_flag;
use crate::output::number::count;
use crate::output::{Console, Folder, Level, Output, OutputArgs, json_text};
use crate::settings::{Config, SETTINGS, Setting, Settings};
use crate::{pipeline, rows};
use anyhow::{Context, Result, bail};
use config::did_you_mean;
use data::Dataset;
use results::Results;
pub use results::{COLUMNS, SUMMARY_COLUMNS};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use train::{Ending, accuracy};

/// Combinations; more is a slip of the keyboard.
const MAX_RUNS: usize = 1000;

/// The key of the setting whose values are repetitions of one experiment.
const SEED: &str = "seed";
/// The time between two looks at the progress of all runs.
const LOOK: Duration = Duration::from_millis(100);

/// A setting with its values.
struct Axis {
    setting: &'static Setting,
    values: Vec<String>,
}

/// The result of one combination.
struct Row {
    values: Vec<String>,
    ending: Ending,
    train_loss: Option<f64>,
    val_loss: Option<f64>,
    test: Option<(f64, f64)>,
    steps: u64,
    seconds: f64,
}

/// Runs the grid.
pub fn run(config: &Config, sweeps: &[String], output: OutputArgs) -> Result<Output> {
    if config.settings.profile {
        bail!(
            "--profile measures one training, and the runs of a sweep share the processor; leave out --profile or --sweep"
        );
    }
    let axes = axes(sweeps)?;
    let points = grid(&axes)?;
    let runs = points
        .iter()
        .map(|point| config.settings.with(&pairs(&axes, point)))
        .collect::<Result<Vec<Settings>>>()?;
    let mut console = pipeline::begin(config, output)?;
    let data = rows::open(&config.settings, true, &mut console)?;
    for settings in &runs {
        check_rows(settings, &data, &mut console)?;
        pipeline::open_classifier(settings, &data, &mut console)?;
    }
    let folder = Folder::create(&config.settings)?;
    let n_runs = count(points.len() as u64, "run");
    let at_once = match workers(runs.len()) {
        1 => String::new(),
        workers => format!(", {workers} at a time"),
    };
    console.print(&format!("{n_runs}{at_once}, in {}", folder.path.display()));
    let rows = train_all(&runs, &points, &data, &folder.software(), &mut console)?;
    let results = Results {
        axes: &axes,
        rows: &rows,
    };
    results.write(&folder.software(), &mut console)?;
    let text = if output.json {
        json_text(&results.facts())?
    } else {
        results.text(points.len(), &folder.software())
    };
    Ok(Output {
        text,
        passed: rows.iter().all(|row| row.ending != Ending::Diverged),
        interrupted: rows.len() < points.len()
            || rows.iter().any(|row| row.ending == Ending::Stopped),
    })
}

/// The keys and values of a sweep; a key stands once.
fn axes(sweeps: &[String]) -> Result<Vec<Axis>> {
    let mut axes: Vec<Axis> = Vec::new();
    for text in sweeps {
        let axis = parse(text)?;
        if axes
            .iter()
            .any(|known| known.setting.key == axis.setting.key)
        {
            bail!(
                "--sweep {text}: {key} is swept twice; write {key}=A,B",
                key = axis.setting.key
            );
        }
        axes.push(axis);
    }
    Ok(axes)
}

fn parse(text: &str) -> Result<Axis> {
    let Some((key, values)) = text.split_once('=') else {
        bail!("--sweep {text}: write KEY=VALUE,VALUE");
    };
    let mut values: Vec<String> = values
        .split(',')
        .flat_map(|value| spelled_out(value.trim()))
        .collect();
    if values.iter().any(String::is_empty) {
        bail!("--sweep {text}: a value is empty");
    }
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    Ok(Axis {
        setting: setting(key.trim())?,
        values,
    })
}

/// The values that a word stands for: `0..7` for 0 to 7, any other for itself.
fn spelled_out(word: &str) -> Vec<String> {
    let ends = word.split_once("..");
    let ends = ends.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match ends {
        // One more than the limit is enough to be refused.
        Some((first, last)) if first <= last => {
            let numbers = (first..=last).take(MAX_RUNS + 1);
            numbers.map(|number: u64| number.to_string()).collect()
        }
        _ => vec![word.to_owned()],
    }
}

/// A setting by its key or option, if runs on the same data can differ in it.
fn setting(name: &str) -> Result<&'static Setting> {
    let name = name.replace('-', "_");
    let has_option = |option: &str| option.replace('-', "_") == name;
    let known = |s: &&Setting| s.key == name || s.argument.option.is_some_and(has_option);
    let Some(setting) = SETTINGS.iter().find(known) else {
        let keys = swept_keys();
        bail!("unknown setting '{name}'{}", did_you_mean(&name, keys));
    };
    if !setting.argument.is_swept {
        let keys = swept_keys();
        bail!(
            "a sweep cannot vary '{name}'; it can vary {}",
            keys.collect::<Vec<_>>().join(", ")
        );
    }
    Ok(setting)
}

fn swept_keys() -> impl Iterator<Item = &'static str> {
    let swept = SETTINGS.iter().filter(|setting| setting.argument.is_swept);
    swept.map(|setting| setting.key)
}

/// Every combination, the last key fastest.
fn grid(axes: &[Axis]) -> Result<Vec<Vec<String>>> {
    let mut points: Vec<Vec<String>> = vec![Vec::new()];
    for axis in axes {
        let extended = points.iter().flat_map(|point| {
            axis.values
                .iter()
                .map(move |value| [point.as_slice(), std::slice::from_ref(value)].concat())
        });
        points = extended.collect();
        if points.len() > MAX_RUNS {
            bail!("the sweep has more than {MAX_RUNS} combinations");
        }
    }
    Ok(points)
}

fn pairs(axes: &[Axis], point: &[String]) -> Vec<(&'static Setting, String)> {
    axes.iter()
        .zip(point)
        .map(|(axis, value)| (axis.setting, value.clone()))
        .collect()
}

/// Trains all combinations, as many at a time as there are cores: small networks gain more from that than from
/// threads. After Ctrl-C no more are begun.
fn train_all(
    runs: &[Settings],
    points: &[Vec<String>],
    data: &Dataset,
    folder: &Path,
    console: &mut Console,
) -> Result<Vec<Row>> {
    let stop = stop_flag()?;
    let next = AtomicUsize::new(0);
    let begin = || {
        let i = next.fetch_add(1, Ordering::Relaxed);
        (i < runs.len() && !stop.load(Ordering::Relaxed)).then_some(i)
    };
    let console = Mutex::new(console);
    let results: Vec<Mutex<Option<Result<Row>>>> = runs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(i) = begin() {
            let folder = folder.join(format!("run_{}", i + 1));
            let row = train_one(&runs[i], &points[i], data, &folder, &stop);
            if let (Ok(row), Ok(mut console)) = (&row, console.lock()) {
                console.print(&format!("{}/{}: {}", i + 1, runs.len(), row.line()));
            }
            if let Ok(mut result) = results[i].lock() {
                *result = Some(row);
            }
        }
    };
    let workers = workers(runs.len());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let start = Instant::now();
        while running.iter().any(|worker| !worker.is_finished()) {
            let begun = next.load(Ordering::Relaxed).min(runs.len());
            if let Ok(mut console) = console.lock() {
                console.progress(|| progress(begun, workers, runs.len(), start.elapsed()));
            }
            std::thread::sleep(LOOK);
        }
    });
    let results = results.into_iter().filter_map(|row| row.into_inner().ok());
    results.flatten().collect()
}

/// Runs at a time.
fn workers(runs: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(runs)
}

/// The progress line of a sweep of which `begun` runs are done or under way.
fn progress(begun: usize, workers: usize, all: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let done = begun.saturating_sub(workers);
    let left = if done == 0 {
        String::new()
    } else {
        format!(
            ", {:.0} s left",
            seconds / done as f64 * (all - done) as f64
        )
    };
    format!("{begun} of {all} runs begun, {seconds:.0} s{left}")
}

fn train_one(
    settings: &Settings,
    point: &[String],
    data: &Dataset,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Row> {
    let mut silent = Console::new(OutputArgs::default(), Level::Error);
    let graph = pipeline::open_graph(settings, Some(&data.info), &mut silent)?;
    let learner = pipeline::learner(settings, data, graph)?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let training = TrainRun {
        settings,
        data,
        folder,
    };
    let Trained { outcome, facts, .. } = training.fit(&learner, stop, &mut silent)?;
    let mut row = Row {
        values: point.to_vec(),
        ending: outcome.ending,
        train_loss: outcome.train_loss,
        val_loss: outcome.best_loss,
        test: None,
        steps: outcome.steps,
        seconds: facts["seconds"].as_f64().unwrap_or_default(),
    };
    if outcome.best_loss.is_some() && !data.test.is_empty() {
        let mut network = pipeline::open_learner(settings, &learner)?;
        let best = interop::checkpoint::read(&outcome.best, None)?;
        train::load_weights(&mut network, &best.tensors)?;
        let score = train::evaluate(&mut network, &data.test)?;
        row.test = Some((score.loss, accuracy(&score)));
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_runs_at_a_time_than_there_are_or_than_cores() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!([1, 100_000].map(workers), [1, cores]);
    }

    #[test]
    fn the_time_left_follows_from_the_runs_that_are_done() {
        let elapsed = Duration::from_secs(12);
        assert_eq!(progress(2, 2, 8, elapsed), "2 of 8 runs begun, 12 s");
        assert_eq!(
            progress(5, 2, 8, elapsed),
            "5 of 8 runs begun, 12 s, 20 s left"
        );
    }
}
