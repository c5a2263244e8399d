//! Trials of a search against PyTorch with Optuna: the same space, rows and metrics on both sides.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{print, times};
use anyhow::{Context, Result, anyhow};
use config::Table;
use data::{Rows, Split};
use random::Random;
use search::config::SearchConfig;
use search::{Search, SearchSpace};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{History, SamplerContext, build_sampler};

const TURNS: usize = 3;
const PEER_TRIALS: usize = 100;

/// Prints trials per second of both sides, and what a sampler adds to a trial.
pub fn run() -> Result<()> {
    let mut peer = Peer::start(1)?;
    let cases = [
        ("jsc-tiny", 512, 10_000),
        ("jsc-toy", 512, 3000),
        ("jsc-s", 16_384, 300),
    ];
    let mut lines = Vec::new();
    for (name, rows, trials) in cases {
        lines.push(line(&mut peer, name, rows, trials)?);
    }
    let convolutional = own_rate("lenet5", 512, 300)?;
    println!("scored trials, random sampler, 1 thread: per CPU second, best of {TURNS} turns");
    print(
        &["network", "rows", "ours", "PyTorch + Optuna", "ratio"],
        &lines,
    );
    println!("the same of lenet5, convolutions too, 512 rows: {convolutional:.0}");
    println!(
        "whole searches of 1000 trials on 2 threads, journal aside: trials per second of the clock"
    );
    print(&["network", "rows", "strategy", "trials/s"], &whole()?);
    println!(
        "what proposing a point adds to a trial after 1000 trials of jsc-s (15 parameters, 2 objectives), CPU milliseconds"
    );
    print(&["strategy", "ms"], &proposing()?);
    Ok(())
}

/// Trials of a network per CPU second on both sides.
fn line(peer: &mut Peer, name: &str, rows: usize, trials: usize) -> Result<Vec<String>> {
    let own = own_rate(name, rows, trials)?;
    let mut other = Spent::FOREVER;
    for _ in 0..TURNS {
        other = other.best(peer.ask(&format!("search {name} {rows} random {PEER_TRIALS}"))?);
    }
    Ok(vec![
        name.to_owned(),
        rows.to_string(),
        format!("{own:.0}"),
        format!("{:.1}", 1.0 / other.cpu),
        times(other.cpu * own),
    ])
}

/// Scores points that a sampler draws, one after the other; nothing is remembered of a point's score. Trials per CPU second.
fn own_rate(name: &str, rows: usize, trials: usize) -> Result<f64> {
    let search = search(name, rows, "random", trials as u64)?;
    let space = search.space.study_space();
    let context = SamplerContext {
        space: Arc::clone(space),
        objectives: 2,
        seed: 0,
    };
    let sampler = build_sampler("random", context)?;
    let history = History::new(search.config.goals.directions());
    let points: u64 = space
        .size()
        .map_or(u64::MAX, |size| size.min(u128::from(u64::MAX)) as u64);
    let mut own = Spent::FOREVER;
    for _ in 0..TURNS {
        let mut evaluator = search.evaluator()?.context("formats are searched")?;
        let mut failed = None;
        let spent = time(|| {
            for number in 0..trials as u64 {
                let point = sampler.sample(&history, number % points);
                failed = failed
                    .take()
                    .or(evaluator.evaluate(&point, |_| false).err());
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        own = own.best(spent.per(trials));
    }
    Ok(1.0 / own.cpu)
}

fn whole() -> Result<Vec<Vec<String>>> {
    let mut lines = Vec::new();
    for (name, rows) in [("jsc-toy", 512), ("jsc-s", 16_384)] {
        for strategy in ["random", "tpe", "nsgaii", "sensitivity"] {
            let mut search = search(name, rows, strategy, 1000)?;
            search.threads = 2;
            let results = search.run(None, &AtomicBool::new(false), &mut |_| {})?;
            let rate = results.ran as f64 / results.time.as_secs_f64();
            lines.push(vec![
                name.to_owned(),
                rows.to_string(),
                strategy.to_owned(),
                format!("{rate:.0}"),
            ]);
        }
    }
    Ok(lines)
}

/// The time that a fresh sampler takes for the points of trials 1000 to 1099, given the trials before.
fn proposing() -> Result<Vec<Vec<String>>> {
    let mut lines = Vec::new();
    for strategy in ["tpe", "nsgaii", "nsgaiii", "sensitivity"] {
        let search = search("jsc-s", 512, strategy, 1100)?;
        let results = search.run(None, &AtomicBool::new(false), &mut |_| {})?;
        let mut best = Spent::FOREVER;
        for _ in 0..TURNS {
            let context = SamplerContext {
                space: Arc::clone(search.space.study_space()),
                objectives: 2,
                seed: search.seed,
            };
            let sampler = build_sampler(strategy, context)?;
            let spent = time(|| {
                for number in 1000..1100 {
                    std::hint::black_box(sampler.sample(&results.history, number));
                }
            });
            best = best.best(spent.per(100));
        }
        lines.push(vec![strategy.to_owned(), format!("{:.3}", 1e3 * best.cpu)]);
    }
    Ok(lines)
}

/// The search of the example file for a network, on random rows.
fn search(name: &str, rows: usize, sampler: &str, trials: u64) -> Result<Search> {
    let mut graph = models::build(name, &models::ModelInfo::default())?;
    graph.initialize(0);
    let layer = "name = [\"integer\"]\ndata_in_width = [4, 8]\nweight_width = [2, 4, 8]\nbias_width = [2, 4, 8]\n";
    let text = format!(
        "[search_space.setup]\nby = \"type\"\n[search_space.seed.default.config]\nname = [\"NA\"]\n\
         [search_space.seed.linear.config]\n{layer}[search_space.seed.conv2d.config]\n{layer}\
         [strategy]\nname = \"{sampler}\"\n[strategy.setup]\nn_trials = {trials}\n[strategy.metrics]\naccuracy.scale = 1.0\naverage_bitwidth.scale = 0.2\n"
    );
    let table = Table::parse(&text).map_err(|problem| anyhow!("{problem:?}"))?;
    let config = SearchConfig::read(&table).map_err(|problems| anyhow!("{problems:?}"))?;
    Ok(Search {
        space: SearchSpace::new(&graph, &config.space)?,
        network: Arc::new(graph),
        rows: random_rows(models::find(name)?.input_shape, rows),
        config,
        train_rows: None,
        seed: 0,
        threads: 1,
    })
}

fn random_rows(shape: &[usize], count: usize) -> Split {
    let random = Random::new(1, "searching");
    let width = shape.iter().product();
    let values = (0..count * width)
        .map(|k| random.normal(k as u64))
        .collect();
    let labels = (0..count)
        .map(|k| (random.at(1).bits(k as u64) % 5) as u32)
        .collect();
    Split::new(
        Arc::new(Rows {
            values,
            labels,
            width,
        }),
        (0..count as u32).collect(),
    )
}
