//! `ch report NETWORK [DATASET]`: one offline page that shows a network, alone or against another.

mod chapters;
mod left;

use crate::network::{self, Opener, SampleArgs};
use crate::output::folder::write_file;
use crate::output::{Console, Level, Output, OutputArgs, json_text};
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

/// The explanation of the line on rows.
const DATA: &str = "the rows that the network was run on";

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
        terms: chapters::terms(&graph),
        training: chapters::training(Path::new(&args.network))?,
        search: chapters::search(Path::new(&args.network)),
        threads: 1,
    };
    write(args, &page.data()?, &title)
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
    let drawing = report::page::svg(&data["graph"], false);
    report::page::page(data, title, &drawing, &[search::results::CHAPTER])
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
    let rows = args.dataset.as_deref().unwrap_or(&random);
    facts.push(fact("data", None, rows, DATA));
    facts
}
