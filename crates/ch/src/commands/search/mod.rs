//! `ch search --config FILE`: searches over number formats or numbers of channels.

mod outcome;
mod progress;
pub mod trials;

use crate::interrupt::stop_flag;
use crate::output::folder::is_bare;
use crate::output::{Folder, Output, OutputArgs, json_text};
use crate::settings::{Action, Config, Resume, SettingArgs, Settings, hide_unused};
use crate::{pipeline, rows};
use anyhow::{Result, bail};
use std::path::Path;
use std::sync::atomic::Ordering;
use trials::{JOURNAL, Options, SearchRun};

/// Arguments of `ch search`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Search))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    output: OutputArgs,
}

/// Searches.
pub fn run(args: &Args) -> Result<Output> {
    let mut config = Config::resolve(&args.settings, Action::Search)?;
    let Some(asked) = config.search.take() else {
        match args.settings.config {
            Some(_) => bail!(
                "{} says nothing of a search; add the tables [search.search_space] and [search.strategy]",
                config.source.name
            ),
            None => bail!(
                "no --config given; name a TOML file with the tables [search.search_space] and [search.strategy]"
            ),
        }
    };
    let asked = args.options.apply(asked, &config.source)?;
    let mut console = pipeline::begin(&config, args.output)?;
    let settings = &mut config.settings;
    let is_fresh = pipeline::starts_fresh(settings);
    let learns = is_fresh && asked.training.is_some();
    let data = rows::open(settings, learns, &mut console)?;
    if is_fresh && !learns {
        console
            .note("no --load given: the network has starting weights, so accuracies say nothing");
    }
    let graph = pipeline::open_classifier(settings, &data, &mut console)?;
    settings.model.get_or_insert_with(|| graph.name.clone());
    let run = SearchRun {
        settings,
        source: &config.source,
        data: &data,
    };
    let search = run.prepare(asked, graph)?;
    // A wrong address is found out before anything is written.
    let address = args.options.storage.as_deref();
    let storage = address
        .map(|address| run.open(&search, address, &mut console))
        .transpose()?;
    let folder = open_folder(run.settings)?;
    let stop = stop_flag()?;
    let outcome = run.run(&search, storage, &folder.software(), &stop, &mut console)?;
    let text = if args.output.json {
        json_text(&outcome.json)?
    } else {
        outcome.text
    };
    Ok(Output {
        text,
        passed: true,
        interrupted: stop.load(Ordering::Relaxed),
    })
}

/// The folder of a search: a new one, or that of the run to go on with.
pub fn open_folder(settings: &Settings) -> Result<Folder> {
    match &settings.resume {
        Some(Resume::Latest) => Folder::resume(&Folder::latest(settings, JOURNAL)?),
        Some(Resume::Folder(path)) => resumed(path),
        None => Folder::create(settings),
    }
}

/// The folder of an earlier search; one that was killed before it had written anything begins again.
fn resumed(path: &Path) -> Result<Folder> {
    let software = path.join("software");
    if !is_bare(&software) && !software.join(JOURNAL).is_file() {
        bail!(
            "{} has no search to go on with: there is no software/{JOURNAL}",
            path.display()
        );
    }
    Folder::resume(path)
}
