//! Training end to end (rows in memory, shuffled, validation included) against a bare PyTorch loop and Lightning.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{print, times};
use anyhow::Result;
use data::{Dataset, Info, Rows, Split};
use engine::{Network, OptimizerKind};
use random::Random;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use train::{Augment, Cosine, FitConfig, fit};

const ROWS: usize = 100_000;
const EPOCHS: u64 = 10;
const TURNS: usize = 3;

/// Prints the table, and the largest memory this process has held.
pub fn run() -> Result<()> {
    let mut peer = Peer::start(1)?;
    let data = dataset();
    let folder = std::env::temp_dir().join(format!("mase-fitting-{}", std::process::id()));
    let rows = ["jsc-tiny", "jsc-toy"].map(|name| line(&mut peer, name, &data, &folder));
    let removed = std::fs::remove_dir_all(&folder);
    println!(
        "training end to end, 1 thread, batch 256, {ROWS} rows: thousand rows per CPU second, best of {TURNS} turns"
    );
    print(
        &[
            "network",
            "ours",
            "PyTorch loop",
            "Lightning",
            "to loop",
            "to Lightning",
        ],
        &rows.into_iter().collect::<Result<Vec<_>>>()?,
    );
    println!(
        "largest memory: {} (the rows are {:.1} MB)",
        peak_memory(),
        (ROWS + ROWS / 10) as f64 * 64e-6
    );
    Ok(removed?)
}

fn line(peer: &mut Peer, name: &str, data: &Dataset, folder: &Path) -> Result<Vec<String>> {
    let (mut own, mut bare, mut lightning) = (Spent::FOREVER, Spent::FOREVER, Spent::FOREVER);
    for _ in 0..TURNS {
        let mut graph = models::build(name, &models::ModelInfo::default())?;
        graph.initialize(0);
        let mut network = Network::new(graph, 1)?;
        let mut outcome = None;
        let spent = time(|| {
            outcome = Some(fit(
                &mut network,
                data,
                &config(folder),
                &AtomicBool::new(false),
                &mut |_| {},
            ));
        });
        outcome.transpose()?;
        own = own.best(spent.per(EPOCHS as usize));
        bare = bare.best(peer.ask(&format!("fit {name} bare {ROWS} 2"))?);
        lightning = lightning.best(peer.ask(&format!("fit {name} lightning {ROWS} 1"))?);
    }
    let rate = |spent: Spent| format!("{:.0}", ROWS as f64 / spent.cpu / 1e3);
    Ok(vec![
        name.to_owned(),
        rate(own),
        rate(bare),
        rate(lightning),
        times(bare.cpu / own.cpu),
        times(lightning.cpu / own.cpu),
    ])
}

fn dataset() -> Dataset {
    let random = Random::new(1, "fitting");
    let all = ROWS + ROWS / 10;
    let values = (0..all * 16).map(|k| random.normal(k as u64)).collect();
    let labels = (0..all)
        .map(|k| (random.at(1).bits(k as u64) % 5) as u32)
        .collect();
    let rows = Arc::new(Rows {
        values,
        labels,
        width: 16,
    });
    let split = |range: std::ops::Range<usize>| {
        Split::new(Arc::clone(&rows), range.map(|i| i as u32).collect())
    };
    let info = Info {
        name: "random".to_owned(),
        sample_shape: vec![16],
        classes: (0..5).map(|k| k.to_string()).collect(),
        features: Vec::new(),
        source: "the benchmark".to_owned(),
        hash: 0,
        scaling: data::Scaling::None,
    };
    Dataset {
        info,
        train: split(0..ROWS),
        val: split(ROWS..all),
        test: split(ROWS..all),
    }
}

fn config(folder: &Path) -> FitConfig {
    FitConfig {
        batch_size: 256,
        max_epochs: EPOCHS,
        max_steps: None,
        optimizer: OptimizerKind::Adam { weight_decay: 0.0 },
        learning_rate: 1e-3,
        schedule: Cosine {
            t_max: EPOCHS,
            eta_min: 1e-6,
        },
        accumulate: 1,
        seed: 0,
        shuffle: true,
        augment: Augment::NONE,
        log_every: 50,
        folder: folder.to_owned(),
        tensorboard: true,
        resume: false,
        hyper_parameters: serde_json::Map::new(),
        fixed: serde_json::Map::new(),
        save_every: None,
    }
}

/// The peak memory of this process, as the system counts it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}
