//! How fast trials are kept: `cargo run --release -p study --example storage [POSTGRESQL_URL]`.
//!
//! Trials of 20 parameters with metrics beside them, claimed and finished one after the other in a journal and, where an
//! address is given, by one and by eight workers in PostgreSQL.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde_json::json;
use study::storage::{Storage, StorageError, StudyInfo, open};
use study::{Direction, Distribution, Outcome, Parameter, Space, Trial};

fn main() -> Result<(), StorageError> {
    let path = std::env::temp_dir().join(format!("speed_{}.journal", std::process::id()));
    let place = path.display().to_string();
    println!("journal: {:.0} trials/s", rate(&place, 1, 50_000)?);
    let size = std::fs::metadata(&path).map_or(0, |file| file.len());
    let started = Instant::now();
    let read = open(&place, &info(), &mut |_| ())?.poll()?.len();
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
    let storages: Result<Vec<_>, _> = (0..workers)
        .map(|_| open(place, &info(), &mut |_| ()))
        .collect();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = storages?
            .into_iter()
            .map(|storage| scope.spawn(move || work(&*storage, trials)))
            .collect();
        for thread in threads {
            thread.join().expect("a worker does not panic")?;
        }
        Ok(trials as f64 / started.elapsed().as_secs_f64())
    })
}

fn work(storage: &dyn Storage, trials: u64) -> Result<(), StorageError> {
    let (space, metrics) = (space(), json!({"accuracy": 0.712, "loss": 0.91}));
    let attributes =
        json!({"software_metrics": metrics, "hardware_metrics": {"average_bitwidth": 5.25}});
    let attributes = attributes.as_object().cloned().unwrap_or_default();
    let point = space.build(|_, distribution| distribution.at(0.6));
    let now = SystemTime::now();
    for number in 0..trials {
        if storage.claim(number, &point)? {
            let outcome = Outcome::complete(vec![0.712, 5.25]);
            let trial = Trial {
                started: now,
                finished: now,
                ..Trial::new(number, point.clone(), outcome)
            };
            storage.finish(&trial, &attributes)?;
            storage.sync(false)?;
        }
    }
    storage.sync(true)
}

fn space() -> Arc<Space> {
    Arc::new(Space::new((0..20).map(parameter).collect()).expect("the space is valid"))
}

fn parameter(index: usize) -> Parameter {
    Parameter::new(
        format!("seq_blocks_{index}_weight_width"),
        Distribution::categorical([2, 4, 8, 16]),
    )
}

fn info() -> StudyInfo {
    StudyInfo {
        name: "speed".to_owned(),
        directions: vec![Direction::Maximize, Direction::Minimize],
        metric_names: vec!["accuracy".to_owned(), "average_bitwidth".to_owned()],
        facts: serde_json::Map::new(),
        space: space(),
    }
}
