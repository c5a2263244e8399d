//! Searching over the formats of a graph in memory.

use super::{Settings, check_classifier};
use crate::commands::search::open_folder;
use crate::commands::search::trials::{Options, SearchRun};
use crate::output::Console;
use crate::settings::{self, Action, Config, SettingArgs, Source};
use ::search::Event;
use ::search::config::SearchConfig;
use anyhow::{Context, Result, anyhow};
use config::Table;
use data::Dataset;
use ir::Graph;
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A search that was read and can run.
pub struct SearchRequest {
    settings: Settings,
    asked: SearchConfig,
    source: Source,
    storage: Option<String>,
}

/// The result of a search.
pub struct Searched {
    /// Text for people.
    pub text: String,
    /// The best trials, the ending and the time.
    pub facts: Json,
    /// The folder of the run.
    pub folder: PathBuf,
    /// Things to note.
    pub notes: Vec<String>,
}

impl SearchRequest {
    /// The search of a file, with settings on top of the file's.
    pub fn of_file(path: &Path, values: &Map<String, Json>) -> Result<Self> {
        let args = SettingArgs {
            typed: settings::typed(values)?,
            config: Some(path.to_owned()),
        };
        let mut config = Config::resolve(&args, Action::Search)?;
        let asked = config.search.take();
        let asked = asked.with_context(|| {
            format!(
                "{} says nothing of a search; add the tables [search.search_space] and [search.strategy]",
                path.display()
            )
        })?;
        Ok(Self {
            settings: config.settings,
            asked,
            source: config.source,
            storage: None,
        })
    }

    /// The search of a table `[search]`.
    pub fn of_keys(table: &Map<String, Json>, values: &Map<String, Json>) -> Result<Self> {
        let read = SearchConfig::read(&Table::of_json(table));
        let asked = read.map_err(|problems| {
            let texts: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
            anyhow!("{}", texts.join("\n"))
        })?;
        Ok(Self {
            settings: Settings::of_keys(values)?,
            asked,
            source: Source::default(),
            storage: None,
        })
    }

    /// The same with the options of the command line.
    pub fn with_options(
        mut self,
        n_trials: Option<u64>,
        sampler: Option<String>,
        storage: Option<String>,
    ) -> Result<Self> {
        let options = Options {
            n_trials,
            sampler,
            storage,
        };
        self.asked = options.apply(self.asked, &self.source)?;
        self.storage = options.storage;
        Ok(self)
    }
}

/// Searches as `ch search` does, with its files.
pub fn search(
    request: SearchRequest,
    graph: Graph,
    data: &Dataset,
    stop: &AtomicBool,
    on_event: &mut (dyn FnMut(&Event) + Send),
) -> Result<Searched> {
    let SearchRequest {
        mut settings,
        asked,
        source,
        storage,
    } = request;
    settings.model.get_or_insert_with(|| graph.name.clone());
    let dataset = &mut settings.dataset;
    dataset.get_or_insert_with(|| data.info.name.clone());
    let mut notes = check_classifier(&graph, data)?;
    let mut console = Console::recording();
    let run = SearchRun {
        settings: &settings,
        source: &source,
        data,
    };
    let search = run.prepare(asked, graph)?;
    let storage = storage
        .map(|address| run.open(&search, &address, &mut console))
        .transpose()?;
    let folder = open_folder(&settings)?;
    let software = folder.software();
    let outcome = run.run_observed(&search, storage, &software, stop, &mut console, on_event)?;
    notes.extend(console.take_notes());
    Ok(Searched {
        text: outcome.text,
        facts: outcome.json,
        folder: folder.path.clone(),
        notes,
    })
}
