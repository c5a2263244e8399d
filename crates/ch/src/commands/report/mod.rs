//! `ch report NETWORK [DATASET]`: one offline page that shows a network, alone or against another.

mod chapters;

use crate::network::{self, Opener, SampleArgs};
use crate::output::folder::write_file;
use crate::output::{Console, Level, Output, OutputArgs, json_text};
use crate::vocabulary::Kind;
use anyhow::{Result, bail};
use data::Dataset;
use ir::Graph;
use models::ModelInfo;
use passes::page::{Fact, Page};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `ch report`.
#[derive(clap::Args)]
pub struct Args {
    /// The network: the folder of a run, a model, a graph (.mg, .mz) or a checkpoint
    #[arg(value_name = "RUN|MODEL|FILE")]
    network: String,
    /// Rows to run the network on, for profiles, errors and accuracy; random numbers if not given
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// Weights of the network: a checkpoint, or the folder of a run
    #[arg(long, value_name = "FILE")]
    load: Option<String>,
    /// Another network to compare with, the one before the change
    #[arg(long, value_name = "RUN|MODEL|FILE")]
    against: Option<String>,
    /// Weights of the other network
    #[arg(long, value_name = "FILE", requires = "against")]
    load_other: Option<String>,
    #[command(flatten)]
    sample: SampleArgs,
    /// The page
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Also write the data of the page
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the drawing of the graph
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw it on a dark ground
    #[arg(long, requires = "svg")]
    dark: bool,
}

/// Multiply-accumulates that the page of a command that does other work may take.
const MAX_MACS: u64 = 2_000_000_000;

/// The page of what a command did to a network; rows are left out where running them would take long.
pub fn of_change(
    name: &str,
    [before, after]: [&Graph; 2],
    data: Option<&Dataset>,
) -> Result<String> {
    let verified = ir::verify(after)?;
    let macs = verified.graph().iter().map(|(id, _)| {
        let cost = passes::cost::node_cost(&verified, id, 1);
        cost.map_or(0, |cost| cost.macs)
    });
    let count = (MAX_MACS / macs.sum::<u64>().max(1)).min(512) as usize;
    let rows = data.map(|data| data.test.head(count));
    let rows = rows.filter(|rows| !rows.indices().is_empty());
    let line = |name: &str, after: &str, about: &str| Fact {
        name: name.to_owned(),
        before: Json::Null,
        after: json!(after),
        about: about.to_owned(),
    };
    let mut facts = vec![line("network", name, "the network of the page")];
    if let Some(data) = data {
        let about = "the rows that the network was run on";
        facts.push(line("data", data.info.name.as_ref(), about));
    }
    let page = Page {
        title: name,
        network: ("after", after),
        against: Some(("before", before)),
        rows: rows.as_ref(),
        is_labelled: true,
        facts,
        terms: terms(after),
        training: None,
        search: None,
        threads: 1,
    };
    let data = page.data()?;
    let drawing = report::page::svg(&data["graph"], false);
    Ok(report::page::page(&data, name, &drawing))
}

/// A network of the page: what to call it, and the file or model that it comes from.
struct Side<'a> {
    name: &'a str,
    load: Option<&'a str>,
}

impl Side<'_> {
    /// The file that weights come from, or the name of a model.
    fn source(&self) -> &str {
        self.load.unwrap_or(self.name)
    }

    fn open(&self, opener: Opener, info: &ModelInfo) -> Result<Graph> {
        let opener = Opener {
            model: self.load.map(|_| self.name),
            ..opener
        };
        opener.open(self.source(), info)
    }
}

/// Writes the page.
pub fn run(args: &Args) -> Result<Output> {
    let output = OutputArgs::default();
    let opener = Opener {
        model: None,
        seed: args.sample.seed,
        output,
    };
    let own = Side {
        name: &args.network,
        load: args.load.as_deref(),
    };
    let other = args.against.as_deref().map(|name| Side {
        name,
        load: args.load_other.as_deref(),
    });
    check_run(&args.network)?;
    let dataset = args.dataset.as_deref();
    let data = dataset.map(|name| opener.dataset(own.source(), name, &args.sample.data));
    let data = data.transpose()?;
    let info = network::sizes(data.as_ref());
    let graph = own.open(opener, &info)?;
    let before = other.as_ref().map(|side| side.open(opener, &info));
    let before = before.transpose()?;
    if let (Some(side), Some(before)) = (&other, &before) {
        network::check_same_inputs((own.name, &graph), (side.name, before))?;
    }
    let rows = opener.rows(&graph, data.as_ref(), args.sample.num_samples as usize)?;
    network::check_width((own.name, &graph), &rows)?;
    let title = match &other {
        Some(side) => format!("{} against {}", own.name, side.name),
        None => own.name.to_owned(),
    };
    let page = Page {
        title: &title,
        network: (own.name, &graph),
        against: other
            .as_ref()
            .zip(before.as_ref())
            .map(|(side, graph)| (side.name, graph)),
        rows: Some(&rows),
        is_labelled: data.is_some(),
        facts: facts(args),
        terms: terms(&graph),
        training: chapters::training(Path::new(&args.network))?,
        search: chapters::search(Path::new(&args.network)),
        threads: 1,
    };
    write(args, &page.data()?, &title)
}

/// Writes the files and says so.
fn write(args: &Args, data: &Json, title: &str) -> Result<Output> {
    let mut console = Console::new(OutputArgs::default(), Level::Info);
    let drawing = report::page::svg(&data["graph"], false);
    let page = report::page::page(data, title, &drawing);
    let mut files = vec![(args.out.clone(), page)];
    if let Some(path) = &args.json {
        files.push((path.clone(), json_text(data)?));
    }
    if let Some(path) = &args.svg {
        let drawing = report::page::svg(&data["graph"], args.dark);
        files.push((path.clone(), drawing));
    }
    let mut said = Vec::new();
    for (path, text) in files {
        write_file(&path, text.as_bytes(), &mut console)?;
        let size = text.len().div_ceil(1000);
        said.push(format!("{}, {size} kB\n", path.display()));
    }
    Ok(said.concat().into())
}

/// A folder must be that of a run.
fn check_run(name: &str) -> Result<()> {
    let path = Path::new(name);
    let has_run = || {
        let found = chapters::find(
            path,
            &["best.ckpt", "last.ckpt", "graph.mz", "best.mz", "last.mz"],
        );
        found.is_some()
    };
    if path.is_dir() && !has_run() {
        bail!(
            "{name} is a folder without a run: there is no checkpoint (best.ckpt) and no graph (graph.mz) in it"
        );
    }
    Ok(())
}

/// The lines of the summary that the command line decides.
fn facts(args: &Args) -> Vec<Fact> {
    let line = |name: &str, before: Option<&String>, after: &str, about: &str| Fact {
        name: name.to_owned(),
        before: json!(before),
        after: json!(after),
        about: about.to_owned(),
    };
    let other = args.against.as_ref();
    let about = "the network of the page, and the one that it is compared with";
    let mut facts = vec![line("network", other, &args.network, about)];
    if let Some(load) = &args.load {
        let about = "the file that the weights come from";
        facts.push(line("weights", args.load_other.as_ref(), load, about));
    }
    let random = format!("random numbers, seed {}", args.sample.seed);
    let rows = args.dataset.as_deref().unwrap_or(&random);
    facts.push(line(
        "data",
        None,
        rows,
        "the rows that the network was run on",
    ));
    facts
}

/// The explanations of the words on the page.
fn terms(graph: &Graph) -> Map<String, Json> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for node in graph.nodes() {
        words.insert(node.op.name().to_owned());
        words.extend(node.formats.values().map(|format| format.name().to_owned()));
    }
    let kinds = ["ops", "formats"].map(Kind::find).into_iter().flatten();
    let mut terms = Map::new();
    for kind in kinds {
        for word in (kind.words)() {
            if words.contains(&word.name) {
                terms.insert(word.name, json!(word.about));
            }
        }
    }
    for (word, about) in chapters::WORDS {
        terms.insert((*word).to_owned(), json!(about));
    }
    terms
}
