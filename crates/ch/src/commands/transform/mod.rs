//! `ch transform --config FILE`: runs the passes of a file, or a named pipeline, over a network.

pub mod apply;

use crate::output::{Folder, Output, OutputArgs, json_text};
use crate::settings::{Action, Config, SettingArgs, hide_unused};
use crate::{pipeline, rows};
use anyhow::{Error, Result, anyhow, bail};
use apply::{Options, TransformRun};
use data::Preparation;

/// Arguments of `ch transform`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Transform))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    #[command(flatten)]
    options: Options,
    /// Run all passes in memory and show what they do, but write nothing
    #[arg(long, help_heading = "Passes")]
    dry_run: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Transforms.
pub fn run(args: &Args) -> Result<Output> {
    let pipeline = args.options.pipeline.as_deref();
    let mut config = Config::resolve_pipeline(&args.settings, Action::Transform, pipeline)?;
    let program = config.passes.take();
    let program = program.ok_or_else(|| no_passes(args, &config))?;
    if config.settings.resume.is_some() {
        bail!("ch transform has nothing to go on with; leave --resume out");
    }
    let program = args.options.select(program)?;
    let mut console = pipeline::begin(&config, args.output)?;
    let settings = &mut config.settings;
    let data = match settings.dataset {
        Some(_) => Some(rows::open(settings, false, &mut console)?),
        None => None,
    };
    if pipeline::starts_fresh(settings) {
        console.note("no --load given: these are starting weights");
    }
    let graph = match &data {
        Some(data) => pipeline::open_classifier(settings, data, &mut console)?,
        None => pipeline::open_graph(settings, None, &mut console)?,
    };
    settings.model.get_or_insert_with(|| graph.name.clone());
    let preparation = match &data {
        Some(data) => Preparation::of(&data.info),
        None => rows::preparation(settings)?,
    };
    let run = TransformRun {
        settings,
        source: &config.source,
        data: data.as_ref(),
        preparation,
        options: &args.options,
        is_dry: args.dry_run,
    };
    let mut outcome = run.apply(&program, graph, &mut console);
    let is_worth_writing = outcome.failure.is_none() || !outcome.steps.is_empty();
    let folder = if args.dry_run || !is_worth_writing {
        None
    } else {
        let folder = Folder::create(run.settings)?;
        run.write(&outcome, &folder.software(), &mut console)?;
        Some(folder)
    };
    if let Some(failure) = outcome.failure.take() {
        if let Some(folder) = folder {
            let place = folder.software().join("transform");
            console.note(&format!(
                "the reports of the passes before it are in {}",
                place.display()
            ));
        }
        return Err(failure);
    }
    let text = if args.output.json {
        json_text(&outcome.to_json(folder.as_ref()))?
    } else if args.output.quiet {
        outcome.reports() + &outcome.closing(run.settings, folder.as_ref())
    } else {
        outcome.closing(run.settings, folder.as_ref())
    };
    Ok(Output {
        text,
        passed: outcome.passed(),
        interrupted: false,
    })
}

fn no_passes(args: &Args, config: &Config) -> Error {
    match args.settings.config {
        Some(_) => anyhow!(
            "{} has no passes; add tables such as [passes.quantize]",
            config.source.name
        ),
        None => {
            anyhow!("no --config given; name a TOML file with tables such as [passes.quantize]")
        }
    }
}
