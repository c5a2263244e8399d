//! `ch completions SHELL`: a script that completes commands and options in a shell.

use crate::command_line;
use crate::output::Output;
use anyhow::Context;
use clap_complete::Shell;

/// Arguments of `ch completions`.
#[derive(clap::Args)]
pub struct Args {
    /// The shell that reads the script
    shell: Shell,
}

/// The script.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut command_line::definition(),
        "ch",
        &mut script,
    );
    let script = String::from_utf8(script).context("the script is not text")?;
    Ok(script.into())
}
