//! `ch help [COMMAND]`: what `--help` prints, for whoever types it first.

use crate::command_line;
use crate::output::Output;

/// Arguments of `ch help`.
#[derive(clap::Args)]
pub struct Args {
    /// A command, and its verb if it has some: `ch help data get`
    #[arg(value_name = "COMMAND")]
    path: Vec<String>,
}

/// The help of a command, or of the program.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    command_line::find(&args.path)?;
    Ok(command_line::help(&args.path).into())
}
