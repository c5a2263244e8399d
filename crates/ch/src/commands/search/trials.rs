//! One search with its files: trials, the best of them as configs and graphs, a chart and a page.

use super::outcome::Outcome;
use super::progress::Progress;
use crate::command_line::whole;
use crate::commands::report::of_search;
use crate::output::Console;
use crate::output::folder::write_file;
use crate::output::number::count;
use crate::settings::{Settings, Source};
use anyhow::{Context, Result, anyhow};
use data::{Dataset, Preparation};
use ir::Graph;
use search::config::SearchConfig;
use search::results::Report;
use search::{Event, PrepareError, Search, Setup, SpaceError};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use study::StudyError;
use study::storage::{Journal, Storage};

/// The journal of the trials, beneath `software`.
pub const JOURNAL: &str = "search_ckpts/study.journal";

/// Options of a search on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Trials at most, instead of what the file says
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, None), help_heading = "Search")]
    pub n_trials: Option<u64>,
    /// Sampler, instead of what the file says: `ch list samplers`
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub sampler: Option<String>,
    /// Storage of the trials: a journal, or postgresql://user@host:port/database, which workers on many machines share
    #[arg(long, value_name = "ADDRESS", help_heading = "Search")]
    pub storage: Option<String>,
}

impl Options {
    /// The search of the file, with what was typed on top.
    pub fn apply(&self, mut asked: SearchConfig, source: &Source) -> Result<SearchConfig> {
        if let Some(name) = &self.sampler {
            let entry = study::find_sampler(name)?;
            let replaced = asked.sampler.replace(entry);
            replaced.map_err(|problems| anyhow!("{}", source.describe(&problems)))?;
        }
        asked.n_trials = self.n_trials.unwrap_or(asked.n_trials);
        Ok(asked)
    }
}

/// One search.
pub struct SearchRun<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The file of the search.
    pub source: &'a Source,
    /// Rows to score on.
    pub data: &'a Dataset,
}

impl SearchRun<'_> {
    /// Runs all trials and writes the files into `folder`, the journal too unless `storage` holds the trials.
    pub fn run(
        &self,
        search: &Search,
        storage: Option<Box<dyn Storage>>,
        folder: &Path,
        stop: &AtomicBool,
        console: &mut Console,
    ) -> Result<Outcome> {
        self.run_observed(search, storage, folder, stop, console, &mut |_| {})
    }

    /// The same; `on_event` also sees every event of the search.
    pub fn run_observed(
        &self,
        search: &Search,
        storage: Option<Box<dyn Storage>>,
        folder: &Path,
        stop: &AtomicBool,
        console: &mut Console,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<Outcome> {
        for note in search.notes(self.data) {
            console.note(&note);
        }
        let size = search.space.study_space().size();
        console.print(&format!(
            "searching {} with {} over {}, {} rows, {}",
            search.config.goals.names().join(", "),
            search.config.sampler.name,
            match size {
                None => "a continuous space".to_owned(),
                // Counting ends at 2^128.
                Some(u128::MAX) => "more than 10^38 configurations".to_owned(),
                Some(n) => format!("{n} configuration{}", if n == 1 { "" } else { "s" }),
            },
            search.rows.len(),
            count(search.threads as u64, "thread"),
        ));
        let storage = match storage {
            Some(storage) => storage,
            None => self.journal(search, &folder.join(JOURNAL))?,
        };
        let mut progress = Progress::new(search, console);
        let results = search.run(Some(storage), stop, &mut |event| {
            on_event(&event);
            progress.on_event(event);
        })?;
        let report = Report::beside_float(search, &results)?;
        self.write(&report, folder, console)?;
        Ok(Outcome::of(&report, self.settings, folder))
    }

    /// Opens the storage at an address.
    pub fn open(
        &self,
        search: &Search,
        address: &str,
        console: &mut Console,
    ) -> Result<Box<dyn Storage>> {
        let on_wait = &mut |line: &str| console.note(line);
        Ok(study::storage::open(
            address,
            &search.info(self.data),
            on_wait,
        )?)
    }

    /// The journal of this search: a new one, or that of the run to go on with.
    fn journal(&self, search: &Search, path: &Path) -> Result<Box<dyn Storage>> {
        let info = search.info(self.data);
        let is_there = self.settings.resume.is_some() && path.exists();
        let journal = if is_there {
            Journal::open(path, &info)
        } else {
            Journal::create(path, &info)
        };
        Ok(Box::new(journal?))
    }

    /// Prepares the search of a file. Whatever is wrong with it is found here, before anything is written.
    pub fn prepare(&self, asked: SearchConfig, graph: Graph) -> Result<Search> {
        let threads = self.settings.given_workers();
        let setup = Setup {
            graph,
            data: self.data,
            seed: self.settings.seed,
            threads: threads.map(|_| self.settings.threads()),
        };
        Search::prepare(asked, setup).map_err(|error| match error {
            PrepareError::Space(SpaceError::Config(problems)) => {
                anyhow!("{}", self.source.describe(&problems))
            }
            PrepareError::Study(error @ StudyError::Unsuitable { .. }) => {
                anyhow!("{error}; `ch list samplers` shows others, for --sampler")
            }
            other => other.into(),
        })
    }

    fn write(&self, report: &Report, folder: &Path, console: &mut Console) -> Result<()> {
        let folder = folder.join("search_ckpts");
        let title = format!(
            "Search of {} on {}",
            report.search.network.name, self.data.info.name
        );
        if report.search.config.training.is_some() {
            console.print("training the best trials again, to write their weights");
        }
        let best = report.best_graphs()?;
        match of_search(&title, report, best.first(), self.data) {
            Ok(page) => write_file(&folder.join("report.html"), page.as_bytes(), console)?,
            Err(error) => console.note(&format!("no report.html: {error}")),
        }
        let files = report.files(&best, &Preparation::of(&self.data.info))?;
        for (name, bytes) in &files {
            write_file(&folder.join(name), bytes, console)?;
        }
        let is_written = |path: &Path| files.iter().any(|(name, _)| folder.join(name) == path);
        remove_others(&folder.join("best"), is_written)
    }
}

/// Removes the files of trials that were the best of an earlier run.
fn remove_others(best: &Path, is_written: impl Fn(&Path) -> bool) -> Result<()> {
    for entry in std::fs::read_dir(best).into_iter().flatten() {
        let path = entry
            .context("cannot look into the folder of the best trials")?
            .path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("trial_") && !is_written(&path) {
            std::fs::remove_file(&path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}
