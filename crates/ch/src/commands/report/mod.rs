//! `ch report NETWORK [DATASET]`: one offline page that shows a network, alone or against another.

mod chapters;
mod left;

use crate::network::{self, Opener, SampleArgs};
use crate::output::folder::write_file;
use crate::output::{Console, Level, Output, OutputArgs, json_text};
use crate::source::BatchArgs;
use anyhow::{Result, bail};
use ir::Graph;
use models::ModelInfo;
use passes::page::{Fact, Page};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

pub use left::{of_change, of_search};

/// Arguments of `ch report`.
#[derive(clap::Args)]
pub struct Args {
    /// The network: the folder of a run, a model, a graph (.mg, .mz, .onnx, .pt2) or a checkpoint
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
    batch: BatchArgs,
    #[command(flatten)]
    sample: SampleArgs,
    /// Further runs of training to show in the same charts
    #[arg(long, value_name = "RUN", num_args = 1..)]
    runs: Vec<String>,
    /// Measure the time of every node; no two pages are the same then
    #[arg(long)]
    time: bool,
    /// Put the values of the parameters into the page, up to 10,000 of each
    #[arg(long)]
    with_weights: bool,
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

/// The explanation of the line on rows.
const DATA: &str = "the rows that the network was run on";

/// A network of the page: what to call it, and the file or model that it comes from.
struct Side<'a> {
    name: &'a str,
    load: Option<String>,
}

impl<'a> Side<'a> {
    /// A network with weights of its own, or those of a file; of a search, that of its best trial.
    fn new(name: &'a str, load: Option<&String>) -> Result<Self> {
        let path = Path::new(name);
        let load = load.cloned();
        if !path.is_dir() || load.is_some() || has_checkpoint(path) {
            return Ok(Self { name, load });
        }
        let Some(best) = chapters::best_of_search(path) else {
            bail!(
                "{name} is a folder without a run: there is no checkpoint (best.ckpt), no graph (graph.mz) and no search with a best trial in it"
            );
        };
        let load = Some(best.to_string_lossy().into_owned());
        Ok(Self { name, load })
    }

    /// The file that weights come from, or the name of a model.
    fn source(&self) -> &str {
        self.load.as_deref().unwrap_or(self.name)
    }

    fn open(&self, opener: Opener, info: &ModelInfo) -> Result<Graph> {
        let opener = Opener {
            model: self.load.as_ref().map(|_| self.name),
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
        batch_axis: args.batch.batch_axis,
        output,
    };
    let own = Side::new(&args.network, args.load.as_ref())?;
    let other = args.against.as_deref();
    let other = other.map(|name| Side::new(name, args.load_other.as_ref()));
    let other = other.transpose()?;
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
    let mut rows = None;
    if can_run(std::iter::once(&graph).chain(&before))? {
        let count = args.sample.num_samples as usize;
        let taken = opener.rows(&graph, data.as_ref(), count)?;
        network::check_width((own.name, &graph), &taken)?;
        rows = Some(taken);
    }
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
        rows: rows.as_ref(),
        is_labelled: data.is_some(),
        facts: facts(args, rows.is_some()),
        terms: chapters::terms(&graph),
        training: chapters::training(&args.network, args.against.as_deref(), &args.runs)?,
        search: chapters::search(Path::new(&args.network)),
        is_timed: args.time,
        with_weights: args.with_weights,
        threads: 1,
    };
    write(args, &page.data()?, &title)
}

/// True when networks can be run; a note says why not.
fn can_run<'g>(graphs: impl Iterator<Item = &'g Graph>) -> Result<bool> {
    for graph in graphs {
        if let Err(why) = engine::check_operators(&ir::verify(graph)?) {
            let mut console = Console::new(OutputArgs::default(), Level::Info);
            console.note(&format!(
                "the page has no profiles, errors or accuracy: {why}"
            ));
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes the files and says so.
fn write(args: &Args, data: &Json, title: &str) -> Result<Output> {
    let mut console = Console::new(OutputArgs::default(), Level::Info);
    let mut files = vec![(args.out.clone(), html(data, title))];
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

/// The page with these data.
fn html(data: &Json, title: &str) -> String {
    report::page::page(data, title, &[search::results::CHAPTER])
}

/// A line of the summary.
fn fact(name: &str, before: Option<&str>, after: impl Into<Json>, about: &str) -> Fact {
    Fact {
        name: name.to_owned(),
        before: json!(before),
        after: after.into(),
        about: about.to_owned(),
    }
}

/// True for a folder with a network of a run.
fn has_checkpoint(folder: &Path) -> bool {
    let names = ["best.ckpt", "last.ckpt", "graph.mz", "best.mz", "last.mz"];
    chapters::find(folder, &names).is_some()
}

/// The lines of the summary that the command line decides.
fn facts(args: &Args, is_run: bool) -> Vec<Fact> {
    let about = "the network of the page, and the one that it is compared with";
    let network = fact(
        "network",
        args.against.as_deref(),
        args.network.as_str(),
        about,
    );
    let mut facts = vec![network];
    if let Some(load) = &args.load {
        let about = "the file that the weights come from";
        facts.push(fact(
            "weights",
            args.load_other.as_deref(),
            load.as_str(),
            about,
        ));
    }
    let random = format!("random numbers, seed {}", args.sample.seed);
    let rows = match args.dataset.as_deref() {
        _ if !is_run => "none: the network cannot run",
        Some(dataset) => dataset,
        None => &random,
    };
    facts.push(fact("data", None, rows, DATA));
    let recorded = [
        ("seed", "the seed that the run was started with"),
        ("version", "the version of the program that made the run"),
    ];
    for (name, about) in recorded {
        let of = |folder: &String| chapters::recorded(folder, name);
        let fact = Fact {
            before: args.against.as_ref().map_or(Json::Null, of),
            ..fact(name, None, of(&args.network), about)
        };
        if !fact.after.is_null() {
            facts.push(fact);
        }
    }
    facts
}
