//! `ch search --config FILE`: searches over number formats.

mod progress;
pub mod trials;

use crate::interrupt::stop_flag;
use crate::output::{Folder, Output, OutputArgs, json_text};
use crate::pipeline;
use crate::settings::{Action, Config, Given, hide_unused};
use anyhow::{Result, bail};
use std::path::Path;
use trials::{JOURNAL, Options, SearchRun};

/// Arguments of `ch search`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Search))]
pub struct Args {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    output: OutputArgs,
}

/// Searches.
pub fn run(args: &Args) -> Result<Output> {
    let config = Config::resolve(&args.given, Action::Search)?;
    if config.document().section("search").is_none() {
        match args.given.config {
            Some(_) => bail!(
                "{} says nothing of a search; add the tables [search.search_space] and [search.strategy]",
                config.document().name
            ),
            None => bail!(
                "no --config given; name a TOML file with the tables [search.search_space] and [search.strategy]"
            ),
        }
    }
    let asked = args.options.read(&config)?;
    let mut console = pipeline::begin(&config, Action::Search, args.output)?;
    let data = pipeline::open_data(&config, &mut console)?;
    if pipeline::starts_fresh(&config) {
        console
            .note("no --load given: the network has starting weights, so accuracies say nothing");
    }
    let graph = pipeline::open_graph(&config, Some(&data.info))?;
    let config = config.or_else("model", &graph.name);
    let run = SearchRun {
        config: &config,
        data: &data,
    };
    let search = run.prepare(asked, graph)?;
    // A wrong address is found out before anything is written.
    let address = args.options.storage.as_deref();
    let storage = address
        .map(|address| run.open(&search, address))
        .transpose()?;
    let folder = match config.text("resume") {
        Some("latest") => Folder::resume(&Folder::latest(&config, JOURNAL)?)?,
        Some(path) => resumed(Path::new(path))?,
        None => Folder::create(&config)?,
    };
    let stop = stop_flag()?;
    let outcome = run.run(&search, storage, &folder.software(), &stop, &mut console)?;
    let text = if args.output.json {
        json_text(&outcome.json)?
    } else {
        outcome.text
    };
    Ok(text.into())
}

/// The folder of an earlier search.
fn resumed(path: &Path) -> Result<Folder> {
    let software = path.join("software");
    if software.is_dir() && !software.join(JOURNAL).is_file() {
        bail!(
            "{} has no search to go on with: there is no software/{JOURNAL}",
            path.display()
        );
    }
    Folder::resume(path)
}
