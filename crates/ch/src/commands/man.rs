//! `ch man [COMMAND]`: a page of the manual, in roff.

use crate::command_line;
use crate::output::Output;
use anyhow::Context;
use clap_mangen::Man;

/// Arguments of `ch man`.
#[derive(clap::Args)]
pub struct Args {
    /// A command, and its verb if it has some; without it, the page of the program
    #[arg(value_name = "COMMAND")]
    path: Vec<String>,
}

/// The page.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    let mut page = Vec::new();
    Man::new(command_line::find(&args.path)?)
        .source(concat!("ch ", env!("CARGO_PKG_VERSION")))
        .manual("MASE")
        .render(&mut page)?;
    let page = String::from_utf8(page).context("the page is not text")?;
    Ok(page.into())
}
