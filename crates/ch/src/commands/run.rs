//! `ch run FILE`: the whole flow from one file: train, test, passes, compare, test again, hardware, search.

use super::emit::Emit;
use super::search::trials::SearchRun;
use super::test::{scores_json, scores_table};
use super::train::fit::{TrainRun, Trained};
use super::transform::apply::{Options, TransformRun, graph_path};
use super::{bitstream, prove, simulate, synth, train};
use crate::hardware::{EmitOptions, Hardware};
use crate::interrupt::stop_flag;
use crate::output::{Console, Folder, Output, OutputArgs, fit, json_text};
use crate::settings::{Action, Config, Resume, SettingArgs, Settings, Source};
use crate::{pipeline, rows};
use ::train::Ending;
use anyhow::{Result, bail};
use data::{Dataset, Preparation};
use engine::Score;
use ir::Graph;
use passes::Program;
use passes::compare::Compare;
use search::config::SearchConfig;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Arguments of `ch run`.
#[derive(clap::Args)]
pub struct Args {
    /// TOML file with settings, and tables [passes.…], [emit] and the like, and [search.…] for what is to be done after training
    #[arg(value_name = "FILE", required_unless_present = "config")]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingArgs,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    output: OutputArgs,
}

/// Rows on which the graph before and after the passes is compared.
const COMPARED: usize = 512;

/// Runs everything the file asks for.
pub fn run(args: &Args) -> Result<Output> {
    let mut given = args.settings.clone();
    if let Some(file) = &args.file
        && let Some(other) = given.config.replace(file.clone())
    {
        let (file, other) = (file.display(), other.display());
        bail!("two files given, {file} and {other}; name one");
    }
    let pipeline = args.options.pipeline.as_deref();
    let mut config = Config::resolve_pipeline(&given, Action::Run, pipeline)?;
    let program = config.passes.take();
    let program = program.map(|program| args.options.select(program));
    let (program, asked) = (program.transpose()?, config.search.take());
    let hardware = std::mem::take(&mut config.hardware);
    let settings = &config.settings;
    let mut console = pipeline::begin(&config, args.output)?;
    let data = rows::open(settings, pipeline::starts_fresh(settings), &mut console)?;
    let graph = pipeline::open_classifier(settings, &data, &mut console)?;
    let mut flow = Flow {
        settings,
        source: &config.source,
        data: &data,
        options: &args.options,
        output: args.output,
        hardware: &hardware,
        console: &mut console,
        facts: json!({}),
        results: String::new(),
        passed: true,
        interrupted: false,
    };
    flow.check(&graph, program.as_ref(), asked.as_ref())?;
    let folder = open_folder(settings)?;
    flow.facts["folder"] = json!(folder.path);
    flow.all(graph, &folder, program.as_ref(), asked)?;
    let text = if args.output.json {
        json_text(&flow.facts)?
    } else if args.output.quiet {
        flow.results
    } else {
        String::new()
    };
    Ok(Output {
        text,
        passed: flow.passed,
        interrupted: flow.interrupted,
    })
}

/// A new folder, or that of the run to go on with.
fn open_folder(settings: &Settings) -> Result<Folder> {
    match &settings.resume {
        Some(Resume::Latest) => Folder::resume(&Folder::latest(settings, ::train::CHECKPOINTS)?),
        Some(Resume::Folder(path)) => Folder::resume(path),
        None => Folder::create(settings),
    }
}

/// Something to do with emitted hardware.
type Step<'a> = Box<dyn FnOnce() -> Result<Output> + 'a>;

/// The parts of a run, and their results so far.
struct Flow<'a> {
    settings: &'a Settings,
    source: &'a Source,
    data: &'a Dataset,
    options: &'a Options,
    output: OutputArgs,
    hardware: &'a Hardware,
    console: &'a mut Console,
    /// For programs.
    facts: Json,
    /// For people who asked for results alone.
    results: String,
    passed: bool,
    interrupted: bool,
}

impl<'a> Flow<'a> {
    /// Finds what does not fit the graph before the training: a mistake in the file must not cost one.
    fn check(
        &mut self,
        graph: &Graph,
        program: Option<&Program>,
        asked: Option<&SearchConfig>,
    ) -> Result<()> {
        train::check_rows(self.settings, self.data, self.console)?;
        if self.data.test.is_empty() {
            bail!("dataset {} has no test rows", self.data.info.name);
        }
        if let Some(program) = program {
            self.transform_run().check(program, graph)?;
        }
        if let Some(asked) = asked {
            self.search_run().prepare(asked.clone(), graph.clone())?;
        }
        Ok(())
    }

    /// Everything the file asks for, in its order.
    fn all(
        &mut self,
        graph: Graph,
        folder: &Folder,
        program: Option<&Program>,
        asked: Option<SearchConfig>,
    ) -> Result<()> {
        let software = folder.software();
        let Some(graph) = self.trained(graph, &software)? else {
            self.passed = false;
            return Ok(());
        };
        self.facts["test"] = self.test(&graph, "test")?;
        let transformed = match program {
            Some(program) => Some(self.passes(&graph, program, &software)?),
            None => None,
        };
        if let Some(options) = &self.hardware.emit {
            let network = transformed.unwrap_or_else(|| graph.clone());
            self.emit(network, options, &folder.path.join("hardware"))?;
        }
        if let Some(asked) = asked {
            self.search(graph, asked, &software)?;
        }
        self.console
            .print(&format!("all files are in {}", folder.path.display()));
        Ok(())
    }

    /// The graph with trained weights: those of --load, or of a training; nothing when the training did not end well.
    fn trained(&mut self, graph: Graph, software: &Path) -> Result<Option<Graph>> {
        if !pipeline::starts_fresh(self.settings) {
            return Ok(Some(graph));
        }
        self.console.print("== train");
        let learner = pipeline::learner(self.settings, self.data, graph)?;
        let stop = stop_flag()?;
        let run = TrainRun {
            settings: self.settings,
            data: self.data,
            folder: software,
        };
        let Trained {
            outcome,
            facts,
            was_finished,
            profile,
        } = run.fit(&learner, &stop, self.console)?;
        if was_finished {
            self.console.print("the training is finished");
        }
        if let Some(profile) = profile {
            self.report(&profile);
        }
        self.facts["train"] = facts;
        self.interrupted = outcome.ending == Ending::Stopped;
        if outcome.ending != Ending::Done {
            self.console
                .note("the training did not end, so nothing is done with its network");
            return Ok(None);
        }
        self.console
            .print(&format!("best.ckpt: {}\n", outcome.best.display()));
        let weights = interop::checkpoint::read(&outcome.best, None)?.tensors;
        Ok(Some(learner.trained(&weights)?))
    }

    fn test(&mut self, graph: &Graph, title: &str) -> Result<Json> {
        let mut network = pipeline::open_network(self.settings, graph.clone())?;
        let score: Score = ::train::evaluate(&mut network, &self.data.test)?;
        self.report(&format!("== {title}\n{}", scores_table(score)));
        Ok(scores_json(score))
    }

    /// Runs the passes, and compares and tests what came out when it computes otherwise.
    fn passes(&mut self, graph: &Graph, program: &Program, software: &Path) -> Result<Graph> {
        let run = self.transform_run();
        let mut outcome = run.apply(program, graph.clone(), self.console);
        run.write(&outcome, software, self.console)?;
        if let Some(failure) = outcome.failure.take() {
            return Err(failure);
        }
        self.results += &outcome.reports();
        self.passed &= outcome.passed();
        self.facts["passes"] = outcome.passes_json();
        self.facts["graph"] = json!(graph_path(software));
        if computes_otherwise(graph, &outcome.graph) {
            self.facts["compare"] = self.compare(graph, &outcome.graph)?;
            self.facts["test_after_passes"] = self.test(&outcome.graph, "test after the passes")?;
        }
        Ok(outcome.graph)
    }

    /// Makes hardware, and does with it what the file asks for; a check that fails ends this.
    fn emit(&mut self, graph: Graph, options: &EmitOptions, folder: &Path) -> Result<()> {
        self.console.print("== emit");
        let emit = Emit {
            settings: self.settings,
            options,
            out: folder,
            force: false,
        };
        let split = rows::part(self.data, self.settings, options.split);
        self.facts["emit"] = emit.make(graph, self.data, &split, self.console)?;
        self.report(emit.text()?.trim_end());
        let (hardware, output) = (self.hardware, self.output);
        let steps: [(&str, Option<Step>); 4] =
            [
                (
                    "simulate",
                    hardware.simulate.as_ref().map(|options| -> Step {
                        Box::new(|| simulate::simulate(folder, options, None, output))
                    }),
                ),
                (
                    "prove",
                    hardware.prove.as_ref().map(|_| -> Step {
                        Box::new(|| prove::prove_folder(folder, false, output))
                    }),
                ),
                (
                    "synth",
                    hardware.synth.as_ref().map(|options| -> Step {
                        Box::new(|| synth::synth(folder, options, output))
                    }),
                ),
                (
                    "bitstream",
                    hardware.bitstream.as_ref().map(|options| -> Step {
                        Box::new(|| bitstream::make(folder, options, output))
                    }),
                ),
            ];
        for (name, step) in steps {
            let Some(step) = step.filter(|_| self.passed && !self.interrupted) else {
                continue;
            };
            self.console.print(&format!("== {name}"));
            let done = step()?;
            self.passed &= done.passed;
            self.interrupted |= done.interrupted;
            if output.json {
                self.facts[name] = serde_json::from_str(&done.text)?;
            } else {
                self.report(done.text.trim_end());
            }
        }
        Ok(())
    }

    fn compare(&mut self, before: &Graph, after: &Graph) -> Result<Json> {
        let compare = Compare {
            a: ("the trained network", before),
            b: ("the network after the passes", after),
            rows: &self.data.test.head(COMPARED),
            threads: 1,
        };
        let report = compare.report()?;
        let text = fit::report(&report, self.console.stream(), |_| "--json".to_owned());
        self.report(&format!("== compare\n{text}"));
        Ok(report.to_json())
    }

    fn search(&mut self, graph: Graph, asked: SearchConfig, software: &Path) -> Result<()> {
        self.console.print("== search");
        let run = self.search_run();
        let stop = stop_flag()?;
        let search = run.prepare(asked, graph)?;
        let outcome = run.run(&search, None, software, &stop, self.console)?;
        self.interrupted = stop.load(Ordering::Relaxed);
        self.report(&outcome.text);
        self.facts["search"] = outcome.json;
        Ok(())
    }

    fn transform_run(&self) -> TransformRun<'a> {
        TransformRun {
            settings: self.settings,
            source: self.source,
            data: Some(self.data),
            preparation: Preparation::of(&self.data.info),
            options: self.options,
            is_dry: false,
        }
    }

    fn search_run(&self) -> SearchRun<'a> {
        SearchRun {
            settings: self.settings,
            source: self.source,
            data: self.data,
        }
    }

    /// Prints a result now, and adds it to the results for the end.
    fn report(&mut self, text: &str) {
        self.console.print(text);
        self.results += text;
        self.results.push('\n');
    }
}

/// True when a graph computes something else after the passes; statistics alone change nothing.
fn computes_otherwise(before: &Graph, after: &Graph) -> bool {
    let without_statistics = |graph: &Graph| {
        let mut graph = graph.clone();
        for index in 0..graph.nodes().len() {
            graph.node_mut(ir::NodeId(index as u32)).statistics.clear();
        }
        graph
    };
    without_statistics(before) != without_statistics(after)
}
