//! `ch data list|get|info`: datasets found, fetched and described.

use crate::missing;
use crate::output::{Console, Level, Output, OutputArgs, Stream, fit, json_text};
use crate::rows::{self, DataArgs};
use anyhow::Result;
use data::{DATASETS, OpenOptions, Standardize, Where};
use report::{Column, Table};
use serde_json::json;

/// Arguments of `ch data`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List all datasets and where they are
    #[command(after_help = "Examples:\n  ch data list")]
    List(Common),
    /// Find a dataset, or fetch and verify it
    #[command(after_help = "Examples:\n  ch data get jsc-sim")]
    Get(Named),
    /// Describe a dataset: shape, classes, balance, ranges, files
    #[command(after_help = "Examples:\n  ch data info jsc-sim")]
    Info(Named),
}

#[derive(clap::Args)]
struct Common {
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Named {
    #[arg(help = "The dataset, or FILE:LABEL")]
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Named {
    /// Calls `open` with options that look in the places asked for and report to the console.
    fn reporting<T>(&self, open: impl FnOnce(OpenOptions) -> T) -> T {
        let mut console = Console::new(OutputArgs::default(), Level::Info);
        rows::reporting(&mut console, |options| {
            open(self.common.data.apply(options))
        })
    }
}

/// The table of datasets.
pub const COLUMNS: &[Column] = &[
    Column::words("Dataset", "the name of a dataset"),
    Column::words("Sample", "the axes of one sample"),
    Column::numbers("Classes", "the number of classes"),
    Column::words("Where", "built in, found in files, or missing"),
    Column::words("About", "what it is"),
];

/// Finds, fetches or describes.
pub fn run(args: &Args) -> Result<Output> {
    let text = match &args.verb {
        Verb::List(common) => list(common)?,
        Verb::Get(named) => get(named)?,
        Verb::Info(named) => info(named)?,
    };
    Ok(text.into())
}

fn list(common: &Common) -> Result<String> {
    let options = common.data.apply(OpenOptions::default());
    let mut rows = Vec::new();
    for entry in DATASETS {
        let place = place(&data::find(entry.name, &options)?);
        let shape = format!("{:?}", entry.sample_shape);
        rows.push(
            [
                entry.name.to_owned(),
                shape,
                entry.classes.len().to_string(),
                place,
                entry.about.to_owned(),
            ]
            .to_vec(),
        );
    }
    if common.json {
        let row = |row: &Vec<String>| json!({ "name": row[0], "sample_shape": row[1], "classes": row[2], "where": row[3], "about": row[4] });
        return json_text(&rows.iter().map(row).collect());
    }
    let mut table = Table::with_columns(COLUMNS);
    table.rows = rows;
    Ok(fit::table(&table, Stream::Out, "--json"))
}

fn place(place: &Where) -> String {
    match place {
        Where::BuiltIn => "built in".to_owned(),
        Where::Found(paths) => paths
            .first()
            .map_or_else(String::new, |path| path.display().to_string()),
        Where::Missing { .. } => "missing".to_owned(),
    }
}

fn get(named: &Named) -> Result<String> {
    let files = named.reporting(|options| data::get(&named.name, &options))?;
    if named.common.json {
        return json_text(&json!({ "name": named.name, "files": files }));
    }
    let lines: Vec<String> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Ok(if lines.is_empty() {
        format!("{} is built in\n", named.name)
    } else {
        lines.join("\n") + "\n"
    })
}

fn info(named: &Named) -> Result<String> {
    missing::check_dataset(&named.name)?;
    let opened = named.reporting(|options| {
        let options = OpenOptions {
            standardize: Standardize::None,
            is_whole: true,
            ..options
        };
        data::open(&named.name, &options)
    });
    let description = data::describe(&opened?);
    if named.common.json {
        json_text(&serde_json::to_value(&description)?)
    } else {
        Ok(description.to_string())
    }
}
