//! How fast trials are kept: `cargo run --release -p search --example storage [POSTGRESQL_URL]`.
//!
//! Trials of 20 parameters with metrics beside them, claimed and finished one after the other in a journal and, where an
//! address is given, by one and by eight workers in PostgreSQL.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::time::{Instant, SystemTime};

use search::storage::{Chosen, Storage, StorageError, StoredTrial, StudyInfo, open};
use search::{Direction, Distribution, Outcome, Parameter};
use serde_json::{Value, json};

fn main() -> Result<(), StorageError> {
    let path = std::env::temp_dir().join(format!("speed_{}.journal", std::process::id()));
    let place = path.display().to_string();
    println!("journal: {:.0} trials/s", rate(&place, 1, 50_000)?);
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    let started = Instant::now();
    let read = open(&place, &info())?.news()?.len();
    println!(
        "reading: {:.0} trials/s, {} bytes each",
        read as f64 / started.elapsed().as_secs_f64(),
        size / read.max(1) as u64
    );
    let _ = std::fs::remove_file(path);
    let Some(url) = std::env::args().nth(1) else {
        return Ok(());
    };
    for workers in [1, 8] {
        let url = format!("{url}?study=speed_{}_{workers}", std::process::id());
        println!(
            "PostgreSQL, {workers} workers: {:.0} trials/s",
            rate(&url, workers, 2000)?
        );
    }
    Ok(())
}

/// Trials a second of some workers together.
fn rate(place: &str, workers: usize, trials: u64) -> Result<f64, StorageError> {
    let storages: Result<Vec<_>, _> = (0..workers).map(|_| open(place, &info())).collect();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = storages?
            .into_iter()
            .map(|mut storage| scope.spawn(move || work(&mut *storage, trials)))
            .collect();
        for thread in threads {
            thread.join().expect("a worker does not panic")?;
        }
        Ok(trials as f64 / started.elapsed().as_secs_f64())
    })
}

fn work(storage: &mut dyn Storage, trials: u64) -> Result<(), StorageError> {
    let parameters: Vec<Parameter> = (0..20).map(parameter).collect();
    let chosen: Vec<Chosen> = parameters
        .iter()
        .map(|parameter| Chosen {
            parameter,
            value: json!(8),
        })
        .collect();
    let named = chosen
        .iter()
        .map(|chosen| (chosen.parameter.name.clone(), chosen.value.clone()));
    let metrics = json!({"software_metrics": {"accuracy": 0.712, "loss": 0.91}, "hardware_metrics": {"average_bitwidth": 5.25}});
    let mut trial = StoredTrial {
        number: 0,
        parameters: named.collect(),
        outcome: Outcome::complete(vec![0.712, 5.25]),
        attributes: metrics.as_object().cloned().unwrap_or_default(),
        started: SystemTime::now(),
        finished: SystemTime::now(),
    };
    for number in 0..trials {
        if storage.claim(number, &chosen)? {
            trial.number = number;
            storage.finish(&trial)?;
            storage.sync(false)?;
        }
    }
    storage.sync(true)
}

fn parameter(index: usize) -> Parameter {
    Parameter {
        name: format!("seq_blocks_{index}_weight_width"),
        distribution: Distribution::Categorical {
            choices: [2, 4, 8, 16].map(Value::from).to_vec(),
        },
        condition: None,
    }
}

fn info() -> StudyInfo {
    StudyInfo {
        name: "speed".to_owned(),
        directions: vec![Direction::Maximize, Direction::Minimize],
        metric_names: vec!["accuracy".to_owned(), "average_bitwidth".to_owned()],
        facts: serde_json::Map::new(),
    }
}
