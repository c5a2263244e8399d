//! One search with its files: trials, the best of them as configs and graphs, a chart and a page.

mod listener;

use super::training::count;
use super::{json_text, test_command};
use crate::console::Console;
use crate::pipeline;
use crate::settings::Config;
use anyhow::{Context, Result, anyhow};
use config::Problem;
use data::{Dataset, Split};
use ir::Graph;
use listener::Listener;
use search::config::{Budget, Objective, SearchConfig};
use search::evaluate::Task;
use search::metrics::METRICS;
use search::results::{Report, importances, page};
use search::runner::{Ending, Results, Search, TrialRecord};
use search::storage::{Journal, Storage, StudyInfo};
use search::{FormatSpace, FormatSpaceError, SearchError, State};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where trials are kept, beneath `software`.
pub const JOURNAL: &str = "search_ckpts/study.journal";
/// Graphs that are written; a front can have hundreds of points.
const MOST_GRAPHS: usize = 20;

/// Options of a search on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Trials at most, instead of what the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Search")]
    n_trials: Option<u64>,
    /// Sampler, instead of what the file says: `ch list strategies`
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    sampler: Option<String>,
    /// Where trials are kept: a journal, or postgresql://user@host:port/database, which workers on many machines share
    #[arg(long, value_name = "ADDRESS", help_heading = "Search")]
    pub storage: Option<String>,
}

impl Options {
    /// What the file asks for, with what was typed on top.
    pub fn read(&self, config: &Config) -> Result<SearchConfig> {
        let document = config.document();
        let table = document
            .section("search")
            .context("the file says nothing of a search")?;
        let mut asked = SearchConfig::read(table)
            .map_err(|problems| anyhow!("{}", document.describe(&problems)))?;
        if let Some(name) = &self.sampler {
            asked.sampler = search::find_sampler(name)?.name;
        }
        asked.n_trials = self.n_trials.unwrap_or(asked.n_trials);
        Ok(asked)
    }
}

/// One search.
pub struct Searching<'a> {
    /// All settings.
    pub config: &'a Config,
    /// Rows to score on.
    pub data: &'a Dataset,
}

/// What came out, for people and for programs.
pub struct Outcome {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Json,
}

impl Searching<'_> {
    /// Runs all trials and writes the files into `folder`, the journal too unless trials are kept in `storage`.
    pub fn run(
        &self,
        search: &Search,
        storage: Option<Box<dyn Storage>>,
        folder: &Path,
        stop: &AtomicBool,
        console: &mut Console,
    ) -> Result<Outcome> {
        self.note(search, console);
        let size = search.task.formats.space.size();
        console.say(&format!(
            "searching {} with {} over {}, {} rows, {}",
            search.objective_names().join(", "),
            search.config.sampler,
            match size {
                None => "a continuous space".to_owned(),
                // Counting ends at 2^128.
                Some(u128::MAX) => "more than 10^38 configurations".to_owned(),
                Some(n) => format!("{n} configuration{}", if n == 1 { "" } else { "s" }),
            },
            search.task.rows.len(),
            count(search.threads as u64, "thread"),
        ));
        let storage = match storage {
            Some(storage) => storage,
            None => self.journal(search, &folder.join(JOURNAL))?,
        };
        let mut listener = Listener::new(search, console);
        let results = search.run(Some(storage), stop, &mut |record, history| {
            listener.hear(record, history);
        })?;
        let report = Report {
            search,
            results: &results,
        };
        self.write(&report, folder, console)?;
        Ok(self.outcome(&report, folder))
    }

    /// Opens the storage at an address.
    pub fn open(&self, search: &Search, address: &str) -> Result<Box<dyn Storage>> {
        Ok(search::storage::open(address, &self.info(search))?)
    }

    /// The journal of this search: a new one, or that of the run to go on with.
    fn journal(&self, search: &Search, path: &Path) -> Result<Box<dyn Storage>> {
        let info = self.info(search);
        let is_there = self.config.text("resume").is_some() && path.exists();
        let journal = if is_there {
            Journal::open(path, &info)
        } else {
            Journal::create(path, &info)
        };
        Ok(Box::new(journal?))
    }

    /// What the results of a search follow from.
    fn info(&self, search: &Search) -> StudyInfo {
        let asked = &search.config;
        let objective = |objective: &Objective| {
            json!([
                METRICS[objective.metric].name,
                objective.scale,
                format!("{:?}", objective.direction)
            ])
        };
        let budget = |budget: &Budget| {
            json!([
                METRICS[budget.metric].name,
                format!("{:?}", budget.side),
                budget.limit
            ])
        };
        let space = &search.task.formats.space;
        let facts = json!({
            "seed": search.seed,
            "sampler": asked.sampler,
            "sampler_config": asked.sampler_config,
            "network": format!("{:016x}", passes::interface::graph_hash(&search.task.graph)),
            "dataset": format!("{:016x}", self.data.info.hash),
            "split": asked.split.name(),
            "rows": search.task.rows.len(),
            "objectives": asked.objectives.iter().map(objective).collect::<Vec<_>>(),
            "sum_scaled_metrics": asked.sum.map(|direction| format!("{direction:?}")),
            "budgets": asked.budgets.iter().map(budget).collect::<Vec<_>>(),
            "training": asked.training.map(|t| json!([t.steps, t.batch_size, t.learning_rate])),
            "early_stop": asked.early_stop,
            "compare_to": asked.compare_to,
            "space": search.task.formats.facts(),
            // Points follow from the order of the parameters, and from what of the space is possible.
            "parameters": space.parameters().iter().map(|p| &p.name).collect::<Vec<_>>(),
            "configurations": space.size().map(|size| size.to_string()),
        });
        StudyInfo {
            name: search.task.graph.name.clone(),
            directions: search.directions(),
            metric_names: search.objective_names(),
            facts: facts.as_object().cloned().unwrap_or_default(),
        }
    }

    /// The search that a file asks for; whatever is wrong with it is found out here, before anything is written.
    pub fn prepare(&self, asked: SearchConfig, graph: Graph) -> Result<Search> {
        let formats = FormatSpace::new(&graph, &asked.rules).map_err(|error| match error {
            FormatSpaceError::Config(problems) => {
                anyhow!("{}", self.config.document().describe(&problems))
            }
            other => other.into(),
        })?;
        let rows = self.rows(&asked)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match asked.n_jobs {
            _ if self.config.is_given("num_workers") => pipeline::threads(self.config),
            Some(jobs) => jobs.min(cores),
            None => cores,
        };
        let task = Task {
            graph: Arc::new(graph),
            formats: Arc::new(formats),
            rows,
            compare_to: asked.compare_to,
        };
        let search = Search {
            train_rows: asked.training.map(|_| self.data.train.clone()),
            config: asked,
            task,
            seed: self.config.whole("seed") as u64,
            // 0 stands for all cores.
            threads: if threads == 0 { cores } else { threads },
        };
        search
            .study()
            .map_err(|error| self.explained(&search, error))?;
        Ok(search)
    }

    /// An error of the sampler, with its place or the way out.
    fn explained(&self, search: &Search, error: SearchError) -> anyhow::Error {
        match (&error, &search.config.sampler_config_span) {
            (SearchError::Config { .. }, Some(span)) => {
                let problem = Problem {
                    span: span.clone(),
                    message: error.to_string(),
                };
                anyhow!("{}", self.config.document().describe(&[problem]))
            }
            (SearchError::Unsuitable { .. }, _) => {
                anyhow!("{error}; `ch list strategies` shows others, for --sampler")
            }
            _ => error.into(),
        }
    }

    /// What users may not have meant.
    fn note(&self, search: &Search, console: &mut Console) {
        for note in &search.task.formats.notes {
            console.note(note);
        }
        let wanted = search.config.num_samples;
        let shortfall = wanted.and_then(|n| self.data.shortfall(search.config.split, n));
        if let Some(note) = &shortfall {
            console.note(note);
        }
    }

    fn rows(&self, asked: &SearchConfig) -> Result<Split> {
        let split = self.data.split(asked.split);
        let (name, dataset) = (asked.split.name(), &self.data.info.name);
        if split.is_empty() {
            anyhow::bail!("dataset {dataset} has no {name} rows to score trials on");
        }
        Ok(split.head(asked.num_samples.unwrap_or(split.len())))
    }

    fn write(&self, report: &Report, folder: &Path, console: &mut Console) -> Result<()> {
        let folder = folder.join("search_ckpts");
        let title = format!(
            "Search of {} on {}",
            report.search.task.graph.name, self.data.info.name
        );
        let mut files: Vec<(String, Vec<u8>)> = vec![
            (
                "log.json".to_owned(),
                json_text(&report.log())?.into_bytes(),
            ),
            (
                "trials.csv".to_owned(),
                report.table().to_csv().into_bytes(),
            ),
            ("front.svg".to_owned(), report.chart().to_svg().into_bytes()),
            ("report.html".to_owned(), page(report, &title).into_bytes()),
        ];
        let formats = &report.search.task.formats;
        if report.search.config.training.is_some() {
            console.say("training the best trials again, to write their weights");
        }
        for record in report.best_spread(MOST_GRAPHS) {
            let graph = report.search.graph(&record.point)?;
            let name = format!("best/trial_{}", record.number);
            files.push((
                format!("{name}.toml"),
                formats.to_toml(&record.point).into_bytes(),
            ));
            files.push((format!("{name}.mz"), passes::interface::graph_file(&graph)?));
        }
        files.push((
            "best.json".to_owned(),
            json_text(&report.best_json())?.into_bytes(),
        ));
        for (name, bytes) in &files {
            super::transforming::write(&folder.join(name), bytes, console)?;
        }
        let is_written = |path: &Path| files.iter().any(|(name, _)| folder.join(name) == path);
        remove_others(&folder.join("best"), is_written)
    }

    fn outcome(&self, report: &Report, folder: &Path) -> Outcome {
        let Results {
            records,
            ending,
            time,
            ran,
            ..
        } = report.results;
        let ended = match ending {
            Ending::Done => "done",
            Ending::Exhausted => "every configuration was tried",
            Ending::Stopped => "stopped",
            Ending::TimedOut => "out of time",
        };
        let seconds = time.as_secs_f64();
        let has_failed = |record: &&TrialRecord| record.outcome.state == State::Failed;
        let failed = records.iter().filter(has_failed).count();
        let mut lines = vec![format!(
            "{}{}, {ended}, in {seconds:.2} s ({:.0} trials/s)",
            count(records.len() as u64, "trial"),
            if failed > 0 {
                format!(" ({failed} failed)")
            } else {
                String::new()
            },
            *ran as f64 / seconds.max(1e-9),
        )];
        let nearest = report.nearest();
        match nearest {
            None if records.is_empty() => lines.push("no trial was finished".to_owned()),
            Some(record) => lines.push(format!(
                "no trial keeps the budget; nearest: trial {}, {}",
                record.number,
                report.excess(record)
            )),
            None => lines.push(format!(
                "\nBest trial(s):\n{}",
                report.best_table().to_text()
            )),
        }
        if let Some((name, shares)) = importances(report.search, report.results)
            .into_iter()
            .next()
        {
            let share =
                |(parameter, share): &(String, f64)| format!("{parameter} {:.0}%", 100.0 * share);
            let counts = |(_, share): &&(String, f64)| *share >= 0.005;
            let shown: Vec<String> = shares.iter().filter(counts).take(5).map(share).collect();
            if !shown.is_empty() {
                lines.push(format!("what {name} depends on: {}", shown.join(", ")));
            }
        }
        let folder = folder.join("search_ckpts");
        lines.push(format!(
            "look at it: {}",
            folder.join("report.html").display()
        ));
        // Of a front, the best in the first objective.
        if let Some(best) = report.best_spread(MOST_GRAPHS).first() {
            let graph = folder.join(format!("best/trial_{}.mz", best.number));
            let command = test_command(self.config, &report.search.task.graph, &graph);
            lines.push(format!("use it: {command}"));
        }
        let text = lines.join("\n") + "\n";
        let json = json!({
            "trials": records.len(),
            "ending": ended,
            "seconds": seconds,
            "best": report.best_json(),
            "nearest": nearest.map(|record| report.row(record)),
            "folder": folder,
        });
        Outcome { text, json }
    }
}

/// Removes the trials that an earlier run held for the best.
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
