//! `ch transform --config FILE`: runs the passes of a file over a network.

use super::json_text;
use super::transforming::{Options, Transforming};
use crate::console::Voice;
use crate::output::Folder;
use crate::settings::{Action, Config, Given};
use crate::{Reply, pipeline};
use anyhow::{Result, bail};

/// Arguments of `ch transform`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    options: Options,
    /// Run all passes in memory and show what they do, but write nothing
    #[arg(long, help_heading = "Passes")]
    dry_run: bool,
    #[command(flatten)]
    voice: Voice,
}

/// Transforms.
pub fn run(args: &Args) -> Result<Reply> {
    let config = Config::resolve(&args.given, Action::Transform)?;
    if config.document().section("passes").is_none() {
        match args.given.config {
            Some(_) => bail!(
                "{} has no passes; add tables such as [passes.quantize]",
                config.document().name
            ),
            None => {
                bail!("no --config given; name a TOML file with tables such as [passes.quantize]")
            }
        }
    }
    if config.text("resume").is_some() {
        bail!("ch transform has nothing to go on with; leave --resume out");
    }
    let program = args.options.program(&config)?;
    let mut console = pipeline::begin(&config, Action::Transform, args.voice)?;
    let data = match config.text("dataset") {
        Some(_) => Some(pipeline::open_data(&config, &mut console)?),
        None => None,
    };
    if pipeline::starts_fresh(&config) {
        console.note("no --load given: these are starting weights");
    }
    let graph = pipeline::open_graph(&config, data.as_ref().map(|data| &data.info))?;
    let config = config.or_else("model", &graph.name);
    let transforming = Transforming {
        config: &config,
        data: data.as_ref(),
        options: &args.options,
    };
    let mut outcome = transforming.apply(&program, graph, &mut console);
    let is_worth_writing = outcome.failure.is_none() || !outcome.steps.is_empty();
    let folder = if args.dry_run || !is_worth_writing {
        None
    } else {
        let folder = Folder::create(&config)?;
        transforming.write(&outcome, &folder.software(), &mut console)?;
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
    let text = if args.voice.json {
        json_text(&outcome.to_json(folder.as_ref()))?
    } else if args.voice.quiet {
        outcome.reports() + &outcome.closing(&config, folder.as_ref())
    } else {
        outcome.closing(&config, folder.as_ref())
    };
    Ok(Reply {
        text,
        is_good: outcome.is_good(),
    })
}
