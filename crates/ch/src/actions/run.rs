//! `ch run FILE`: the whole flow from one file: train, test, passes, compare, test again, search.

use super::searching::{self, Searching};
use super::test::{scores_json, scores_table};
use super::training::Training;
use super::transforming::{Options, Transforming};
use super::{json_text, train as training};
use crate::config::{Action, Config, Given};
use crate::console::{Console, Voice};
use crate::output::Folder;
use crate::{Reply, pipeline};
use anyhow::{Result, bail};
use data::Dataset;
use engine::Score;
use ir::Graph;
use passes::compare::Compare;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use train::Ending;

/// Arguments of `ch run`.
#[derive(clap::Args)]
pub struct Args {
    /// TOML file with settings, and tables [passes.…] and [search.…] for what is to be done after training
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    voice: Voice,
}

/// Rows on which the graph before and after the passes is compared.
const COMPARED: usize = 512;

/// Runs everything the file asks for.
pub fn run(args: &Args) -> Result<Reply> {
    let mut given = args.given.clone();
    if let Some(other) = given.config.replace(args.file.clone()) {
        bail!(
            "two files given, {} and {}; name one",
            args.file.display(),
            other.display()
        );
    }
    let config = Config::resolve(&given)?;
    // Passes are read before anything is trained: a mistake in the file must not cost a training.
    let program = match config.document().section("passes") {
        Some(_) => Some(args.options.program(&config)?),
        None => None,
    };
    let asked = match config.document().section("search") {
        Some(_) => Some(searching::Options::default().read(&config)?),
        None => None,
    };
    let mut console = pipeline::begin(&config, Action::Run, args.voice)?;
    let data = pipeline::open_data(&config, &mut console)?;
    training::check_batch(&config, &data)?;
    if data.test.is_empty() {
        bail!("dataset {} has no test rows", data.info.name);
    }
    let folder = Folder::create(&config)?;
    let software = folder.software();
    let mut facts = json!({ "folder": folder.path });
    let Some(graph) = trained(&config, &data, &folder, &mut console, &mut facts)? else {
        return finish(args, &facts, false);
    };
    facts["test"] = test(&config, &graph, &data, "test", &mut console)?;
    let mut is_good = true;
    if let Some(program) = program {
        let transforming = Transforming {
            config: &config,
            data: Some(&data),
            folder: Some(&software),
            options: &args.options,
        };
        let outcome = transforming.apply(&program, graph.clone(), &mut console)?;
        is_good &= outcome.is_good();
        facts["passes"] = outcome.passes_json();
        facts["graph"] = json!(super::transforming::graph_path(&software));
        if computes_otherwise(&graph, &outcome.graph) {
            facts["compare"] = compare(&graph, &outcome.graph, &data, &mut console)?;
            facts["test_after_passes"] = test(
                &config,
                &outcome.graph,
                &data,
                "test after the passes",
                &mut console,
            )?;
        }
    }
    if let Some(asked) = asked {
        console.say("== search");
        let searching = Searching {
            config: &config,
            data: &data,
        };
        let stop = training::watch_for_ctrl_c()?;
        let search = searching.prepare(asked, graph, &mut console)?;
        let outcome = searching.run(&search, &software, &stop, &mut console)?;
        console.say(&outcome.text);
        facts["search"] = outcome.json;
    }
    console.say(&format!("all files are in {}", folder.path.display()));
    finish(args, &facts, is_good)
}

/// Whether a graph computes something else after the passes; statistics that they left do not.
fn computes_otherwise(before: &Graph, after: &Graph) -> bool {
    let mut bare = after.clone();
    if before.nodes().len() == after.nodes().len() {
        for (id, node) in before.iter() {
            bare.node_mut(id).statistics.clone_from(&node.statistics);
        }
    }
    bare != *before
}

/// The graph with trained weights: those of --load, or of a training; nothing when the training did not end well.
fn trained(
    config: &Config,
    data: &Dataset,
    folder: &Folder,
    console: &mut Console,
    facts: &mut Json,
) -> Result<Option<Graph>> {
    let graph = pipeline::open_graph(config, Some(&data.info))?;
    if config.text("load_name").is_some() {
        return Ok(Some(graph));
    }
    console.say("== train");
    let stop = training::watch_for_ctrl_c()?;
    let one = Training {
        config,
        data,
        folder: &folder.software(),
    };
    let (outcome, trained) = one.fit(graph, &stop, console)?;
    facts["train"] = trained;
    if outcome.ending != Ending::Done {
        console.note("the training did not end, so nothing is done with its network");
        return Ok(None);
    }
    console.say(&format!("best.ckpt: {}\n", outcome.best.display()));
    let best = config.with(&[("load_name", outcome.best.display().to_string())])?;
    Ok(Some(pipeline::open_graph(&best, Some(&data.info))?))
}

fn test(
    config: &Config,
    graph: &Graph,
    data: &Dataset,
    title: &str,
    console: &mut Console,
) -> Result<Json> {
    let mut network = pipeline::open_network(config, graph.clone())?;
    let score: Score = train::evaluate(&mut network, &data.test)?;
    console.say(&format!("== {title}\n{}", scores_table(score)));
    Ok(scores_json(score))
}

fn compare(before: &Graph, after: &Graph, data: &Dataset, console: &mut Console) -> Result<Json> {
    let compare = Compare {
        a: ("the trained network", before),
        b: ("the network after the passes", after),
        rows: &data.test.head(COMPARED),
        threads: 1,
    };
    let report = compare.report()?;
    console.say(&format!("== compare\n{}", report.to_text()));
    Ok(report.to_json())
}

fn finish(args: &Args, facts: &Json, is_good: bool) -> Result<Reply> {
    let text = if args.voice.json {
        json_text(facts)?
    } else {
        String::new()
    };
    Ok(Reply { text, is_good })
}
