//! `ch transform --config FILE`: runs the passes of a file over a network.

use super::json_text;
use super::transforming::{Options, Transforming};
use crate::config::{Action, Config, Given};
use crate::console::Voice;
use crate::output::Folder;
use crate::{Reply, pipeline};
use anyhow::{Result, bail};

/// Arguments of `ch transform`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    voice: Voice,
}

/// Transforms.
pub fn run(args: &Args) -> Result<Reply> {
    let config = Config::resolve(&args.given)?;
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
    let folder = if args.options.dry_run {
        None
    } else {
        Some(Folder::create(&config)?)
    };
    let software = folder.as_ref().map(Folder::software);
    let transforming = Transforming {
        config: &config,
        data: data.as_ref(),
        folder: software.as_deref(),
        options: &args.options,
    };
    let outcome = transforming.apply(&program, graph, &mut console)?;
    let text = if args.voice.json {
        json_text(&outcome.to_json(folder.as_ref()))?
    } else {
        outcome.closing(&config, folder.as_ref())
    };
    Ok(Reply {
        text,
        is_good: outcome.is_good(),
    })
}
