//! Passes: a transformation from process start to files, profiling against PyTorch with NumPy.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{print, times};
use anyhow::{Context as _, Result, anyhow, bail};
use config::Table;
use data::{Dataset, OpenOptions};
use ir::Graph;
use passes::{Context, Program};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const TURNS: usize = 5;

/// Prints both.
pub fn run() -> Result<()> {
    transform()?;
    profiling()
}

/// `ch transform` as a user types it; the program must have been built.
fn transform() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let program = program(&root)?;
    let folder = std::env::temp_dir().join(format!("mase-passes-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut best = f64::MAX;
    for _ in 0..2 * TURNS {
        let started = Instant::now();
        let output = Command::new(&program)
            .args(["transform", "--config"])
            .arg(
                root.join("configs/examples/jsc_toy_by_type.toml")
                    .canonicalize()?,
            )
            .current_dir(&folder)
            .output()?;
        best = best.min(started.elapsed().as_secs_f64());
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    std::fs::remove_dir_all(&folder)?;
    println!(
        "ch transform of jsc_toy_by_type, from process start to files: {best:.3} s, best of {} turns\n",
        2 * TURNS
    );
    Ok(())
}

/// The program that lies beside this one.
fn program(root: &Path) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let beside = own.with_file_name("ch");
    if !beside.exists() {
        let built = Command::new("cargo")
            .args(["build", "--release", "-p", "ch"])
            .current_dir(root)
            .status();
        built.context("cannot build ch")?;
    }
    Ok(beside)
}

const PROFILE: &str = "[profile_statistics]\nby = \"type\"\ntarget_weight_nodes = []\ntarget_activation_nodes = [\"linear\"]\nnum_samples = ROWS\n\
     [profile_statistics.activation_statistics]\nrecord = {}\nvariance_online = { dims = \"all\" }\nvariance_precise = { dims = \"all\" }\n\
     range_n_sigma = { dims = \"all\" }\nrange_min_max = { dims = \"all\" }\nrange_quantile = { dims = \"all\", quantile = 0.975 }\nabs_mean = { dims = \"all\" }\n";

fn profiling() -> Result<()> {
    let mut peer = Peer::start(1)?;
    let data = data::open("jsc-sim", &OpenOptions::default())?;
    let mut lines = Vec::new();
    for rows in [10_000, 90_000] {
        let text = PROFILE.replace("ROWS", &rows.to_string());
        let (mut own, mut vectorised, mut online) =
            (Spent::FOREVER, Spent::FOREVER, Spent::FOREVER);
        for turn in 0..TURNS {
            own = own.best(passes_over(zoo("jsc-s")?, &text, &data)?.per(rows));
            vectorised = vectorised.best(peer.ask(&format!("profile jsc-s {rows} vectorised"))?);
            if turn == 0 {
                online =
                    online.best(peer.ask(&format!("profile jsc-s {} online", rows.min(20_000)))?);
            }
        }
        let rate = |spent: Spent| format!("{:.0}", 1e-3 / spent.cpu);
        lines.push(vec![
            rows.to_string(),
            rate(own),
            rate(vectorised),
            format!("{:.1}", 1e-3 / online.cpu),
            times(vectorised.cpu / own.cpu),
            times(online.cpu / own.cpu),
        ]);
    }
    println!(
        "profiling the inputs of jsc-s's linear layers with seven statistics, 1 thread: thousand rows per CPU second, best of {TURNS} turns"
    );
    print(
        &[
            "rows",
            "ours",
            "NumPy at once",
            "sample by sample",
            "to NumPy",
            "to samples",
        ],
        &lines,
    );
    Ok(())
}

/// A network of the zoo with starting weights.
pub fn zoo(model: &str) -> Result<Graph> {
    let mut graph = models::build(model, &models::ModelInfo::default())?;
    graph.initialize(0);
    Ok(graph)
}

/// Runs passes over a network.
pub fn passes_over(mut graph: Graph, text: &str, data: &Dataset) -> Result<Spent> {
    let table = Table::parse(text).map_err(|problem| anyhow!("{problem:?}"))?;
    let program = Program::read(&table).map_err(|problems| anyhow!("{problems:?}"))?;
    let mut context = Context::new(&graph, Some(data));
    let mut outcome = None;
    let spent = time(|| outcome = Some(program.run(&mut graph, &mut context, |_, _, _| {})));
    outcome.transpose()?;
    Ok(spent)
}
