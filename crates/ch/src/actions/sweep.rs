//! `ch train … --sweep KEY=A,B`: a training for every combination, one table and one chart.

use super::json_text;
use super::train::{Training, check_batch};
use crate::config::Config;
use crate::console::{Console, Voice};
use crate::output::Folder;
use crate::{Reply, pipeline};
use anyhow::{Context, Result, anyhow, bail};
use data::Dataset;
use report::{Chart, Series, Table};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use train::Ending;

/// Combinations; more is a slip of the keyboard.
const MOST_RUNS: usize = 1000;

/// A key with its values.
struct Axis {
    key: String,
    values: Vec<String>,
}

/// What one combination gave.
struct Row {
    values: Vec<String>,
    ending: Ending,
    val_loss: Option<f64>,
    test: Option<(f64, f64)>,
    steps: u64,
    seconds: f64,
}

/// Runs the grid.
pub fn run(
    config: &Config,
    sweeps: &[String],
    voice: Voice,
    console: &mut Console,
) -> Result<Reply> {
    let axes = sweeps
        .iter()
        .map(|text| parse(text))
        .collect::<Result<Vec<_>>>()?;
    let points = grid(&axes)?;
    let configs = points
        .iter()
        .map(|point| config.with(&pairs(&axes, point)))
        .collect::<Result<Vec<_>>>()?;
    let data = pipeline::open_data(config, console)?;
    for config in &configs {
        check_batch(config, &data)?;
        pipeline::open_graph(config, Some(&data.info))?;
    }
    let folder = Folder::create(config)?;
    console.say(&format!(
        "{} runs, in {}",
        points.len(),
        folder.path.display()
    ));
    let rows = train_all(&configs, &points, &data, &folder.software(), voice, console)?;
    let table = table(&axes, &rows);
    write(&folder.software(), &table, &chart(&axes, &rows))?;
    let text = if voice.json {
        json_text(&facts(&axes, &rows))?
    } else {
        text(&table, &folder.path)
    };
    Ok(Reply {
        text,
        is_good: rows.iter().all(|row| row.ending != Ending::Diverged),
    })
}

fn parse(text: &str) -> Result<Axis> {
    let (key, values) = text
        .split_once('=')
        .ok_or_else(|| anyhow!("--sweep {text}: write KEY=VALUE,VALUE"))?;
    let values: Vec<String> = values
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect();
    if values.iter().any(String::is_empty) {
        bail!("--sweep {text}: a value is empty");
    }
    Ok(Axis {
        key: key.trim().replace('-', "_"),
        values,
    })
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
        if points.len() > MOST_RUNS {
            bail!("the sweep has more than {MOST_RUNS} combinations");
        }
    }
    Ok(points)
}

fn pairs(axes: &[Axis], point: &[String]) -> Vec<(String, String)> {
    axes.iter()
        .zip(point)
        .map(|(axis, value)| (axis.key.clone(), value.clone()))
        .collect()
}

/// Trains all combinations, as many at a time as there are cores: small networks gain more from that than from threads.
fn train_all(
    configs: &[Config],
    points: &[Vec<String>],
    data: &Dataset,
    folder: &Path,
    voice: Voice,
    console: &mut Console,
) -> Result<Vec<Row>> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop))
        .context("cannot watch for Ctrl-C")?;
    let next = AtomicUsize::new(0);
    let done: Mutex<(Vec<Option<Result<Row>>>, &mut Console)> =
        Mutex::new((configs.iter().map(|_| None).collect(), console));
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(configs.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(i) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < configs.len())
                {
                    let row = train_one(
                        &configs[i],
                        &points[i],
                        data,
                        &folder.join(format!("run_{}", i + 1)),
                        &stop,
                        voice,
                    );
                    if let Ok(mut done) = done.lock() {
                        if let Ok(row) = &row {
                            let loss = row
                                .val_loss
                                .map_or_else(|| "none".to_owned(), |loss| format!("{loss:.4}"));
                            done.1.say(&format!(
                                "{}/{}: {}: val_loss_epoch {loss}",
                                i + 1,
                                configs.len(),
                                points[i].join(", ")
                            ));
                        }
                        done.0[i] = Some(row);
                    }
                }
            });
        }
    });
    let (rows, _) = done
        .into_inner()
        .map_err(|_| anyhow!("a run of the sweep failed"))?;
    rows.into_iter().flatten().collect()
}

fn train_one(
    config: &Config,
    point: &[String],
    data: &Dataset,
    folder: &Path,
    stop: &AtomicBool,
    voice: Voice,
) -> Result<Row> {
    let graph = pipeline::open_graph(config, Some(&data.info))?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut silent = Console::new(Voice {
        quiet: true,
        ..voice
    });
    let (outcome, facts) = Training {
        config,
        data,
        folder,
    }
    .fit(graph.clone(), stop, &mut silent)?;
    let test = if outcome.best_loss.is_some() && !data.test.is_empty() {
        let mut network = pipeline::open_network(config, graph)?;
        let best = interop::checkpoint::read(&outcome.best, None)?;
        train::load_weights(&mut network, &best.tensors)?;
        let score = train::evaluate(&mut network, &data.test)?;
        Some((score.loss, score.correct as f64 / score.count.max(1) as f64))
    } else {
        None
    };
    Ok(Row {
        values: point.to_vec(),
        ending: outcome.ending,
        val_loss: outcome.best_loss,
        test,
        steps: outcome.steps,
        seconds: facts["seconds"].as_f64().unwrap_or_default(),
    })
}

fn table(axes: &[Axis], rows: &[Row]) -> Table {
    let number =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    let measured = [
        "val_loss_epoch",
        "test_loss_epoch",
        "test_acc_epoch",
        "steps",
        "seconds",
        "ending",
    ];
    let line = |row: &Row| {
        let ending = format!("{:?}", row.ending).to_lowercase();
        let more = [
            number(row.val_loss),
            number(row.test.map(|t| t.0)),
            number(row.test.map(|t| t.1)),
            row.steps.to_string(),
            format!("{:.2}", row.seconds),
            ending,
        ];
        row.values.iter().cloned().chain(more).collect()
    };
    Table {
        headings: axes
            .iter()
            .map(|axis| axis.key.clone())
            .chain(measured.map(str::to_owned))
            .collect(),
        rows: rows.iter().map(line).collect(),
    }
}

/// Validation loss over the first key that is a number, a line for every combination of the others.
fn chart(axes: &[Axis], rows: &[Row]) -> Chart {
    let is_number = |axis: &Axis| axis.values.iter().all(|value| value.parse::<f64>().is_ok());
    let x = axes.iter().position(is_number).unwrap_or(0);
    let mut series: Vec<Series> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let others = axes
            .iter()
            .zip(&row.values)
            .enumerate()
            .filter(|(i, _)| *i != x);
        let name: Vec<String> = others
            .map(|(_, (axis, value))| format!("{} {value}", axis.key))
            .collect();
        let name = if name.is_empty() {
            "val_loss_epoch".to_owned()
        } else {
            name.join(", ")
        };
        let point = (
            row.values[x].parse().unwrap_or(place as f64),
            row.val_loss.unwrap_or(f64::NAN),
        );
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series {
                name,
                points: vec![point],
            }),
        }
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let numbers: Vec<f64> = axes[x]
        .values
        .iter()
        .filter_map(|value| value.parse().ok())
        .collect();
    let spread = numbers.iter().copied().fold(f64::MIN, f64::max)
        / numbers.iter().copied().fold(f64::MAX, f64::min);
    Chart {
        title: "Validation loss".to_owned(),
        x_label: axes[x].key.clone(),
        y_label: "val_loss_epoch".to_owned(),
        log_x: spread > 20.0,
        series,
    }
}

fn write(folder: &Path, table: &Table, chart: &Chart) -> Result<()> {
    for (name, text) in [
        ("sweep.csv", table.to_csv()),
        ("sweep.md", table.to_markdown()),
        ("sweep.svg", chart.to_svg()),
    ] {
        let path = folder.join(name);
        interop::write_file(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn text(table: &Table, folder: &Path) -> String {
    format!(
        "{}\ntable and chart: {}/software/sweep.{{csv,md,svg}}\n",
        table.to_markdown(),
        folder.display()
    )
}

fn facts(axes: &[Axis], rows: &[Row]) -> Json {
    let row = |row: &Row| {
        let mut map = serde_json::Map::new();
        for (axis, value) in axes.iter().zip(&row.values) {
            map.insert(axis.key.clone(), json!(value));
        }
        map.insert("val_loss_epoch".to_owned(), json!(row.val_loss));
        map.insert("test_loss_epoch".to_owned(), json!(row.test.map(|t| t.0)));
        map.insert("test_acc_epoch".to_owned(), json!(row.test.map(|t| t.1)));
        map.insert("steps".to_owned(), json!(row.steps));
        map.insert(
            "ending".to_owned(),
            json!(format!("{:?}", row.ending).to_lowercase()),
        );
        Json::Object(map)
    };
    rows.iter().map(row).collect()
}
