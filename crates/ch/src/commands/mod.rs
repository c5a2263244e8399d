//! The commands, a file or folder each: arguments, then `run`, which returns the output.
//!
//! A new command is its file, a `mod` line, a variant of [`Command`] with its line in [`Command::run`], and, if it prints
//! tables, a line in [`COLUMNS`].

use crate::output::Output;
use clap::Subcommand;
use report::Column;

mod compare;
mod data;
mod explain;
mod format;
mod list;
mod predict;
mod run;
mod search;
mod show;
mod test;
mod train;
mod transform;

/// A command with its arguments.
#[derive(Subcommand)]
pub enum Command {
    /// Train a network; keep the best and the last checkpoint
    #[command(override_usage = "ch train [MODEL] [DATASET] [OPTIONS]")]
    Train(train::Args),
    /// Loss and accuracy on the test rows
    #[command(override_usage = "ch test [MODEL] [DATASET] [OPTIONS]")]
    Test(test::Args),
    /// Run a network over a dataset or an array and write the outputs
    #[command(override_usage = "ch predict [MODEL] [DATASET|ARRAYS] --out Y.npy [OPTIONS]")]
    Predict(predict::Args),
    /// Run the passes of a config file over a network: report, profile, quantise, prune, count, …
    #[command(
        override_usage = "ch transform <--config FILE|--pipeline NAME> [MODEL] [DATASET] [OPTIONS]"
    )]
    Transform(transform::Args),
    /// Search for the number formats with the best trade between accuracy and cost
    #[command(override_usage = "ch search --config FILE [MODEL] [DATASET] [OPTIONS]")]
    Search(search::Args),
    /// Everything a config file asks for: train, test, passes, compare, test again, search
    #[command(override_usage = "ch run FILE [OPTIONS]")]
    Run(run::Args),
    /// Two networks side by side: formats, weights, errors of every node, outputs
    Compare(compare::Args),
    /// Find, fetch and describe datasets
    Data(data::Args),
    /// Print a network: its graph as text, then shapes, parameters and costs of every node
    Show(show::Args),
    /// List the names of a kind: operators, formats, models, …
    List(list::Args),
    /// Explain any name the program prints
    Explain(explain::Args),
    /// Put values under the microscope of a number format
    Format(format::Args),
}

impl Command {
    /// Runs the command.
    pub fn run(&self) -> anyhow::Result<Output> {
        match self {
            Self::Train(args) => train::run(args),
            Self::Test(args) => test::run(args),
            Self::Predict(args) => predict::run(args),
            Self::Transform(args) => transform::run(args),
            Self::Search(args) => search::run(args),
            Self::Run(args) => run::run(args),
            Self::Compare(args) => compare::run(args),
            Self::Data(args) => data::run(args),
            Self::Show(args) => show::run(args),
            Self::List(args) => list::run(args),
            Self::Explain(args) => explain::run(args),
            Self::Format(args) => format::run(args),
        }
    }
}

/// The columns of the tables that commands print, for `ch explain`.
pub const COLUMNS: &[&[Column]] = &[
    show::COLUMNS,
    show::PARAMETER_COLUMNS,
    format::COLUMNS,
    data::COLUMNS,
    crate::settings::COLUMNS,
    test::COLUMNS,
    test::classes::COLUMNS,
    train::SWEEP_COLUMNS,
    train::SUMMARY_COLUMNS,
];
