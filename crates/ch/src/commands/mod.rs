//! The commands, a file or folder each: arguments, then `run`, which returns the output.
//!
//! A new command is its file, a `mod` line, a variant of [`Command`] with its line in [`Command::run`], and, if it prints
//! tables, a line in [`COLUMNS`].

use crate::output::Output;
use ::report::Column;
use clap::Subcommand;

mod bitstream;
mod compare;
mod completions;
mod data;
mod emit;
pub mod explain;
mod export;
mod format;
mod help;
pub mod list;
mod man;
mod predict;
mod prove;
mod report;
mod run;
pub mod search;
pub mod show;
mod simulate;
mod synth;
mod test;
pub mod train;
mod transform;

/// A command with its arguments. The examples are run in their order by a test.
#[derive(Subcommand)]
pub enum Command {
    /// Train a network; keep the best and the last checkpoint
    #[command(
        override_usage = "ch train [MODEL] [DATASET] [OPTIONS]",
        after_help = "Examples:
  ch train jsc-tiny jsc-sim --max-epochs 4 --project demo
  ch train --resume=mase_output/demo --max-epochs 6
  ch train jsc-tiny jsc-sim --max-epochs 1 --sweep learning_rate=1e-3,1e-2 --sweep seed=0..3 --project demo-rates"
    )]
    Train(train::Args),
    /// Loss, accuracy and the scores of every class on the test rows
    #[command(
        override_usage = "ch test [MODEL] [DATASET] [OPTIONS]",
        after_help = "Examples:
  ch test jsc-tiny jsc-sim --load mase_output/demo
  ch test jsc-tiny jsc-sim --load mase_output/demo --split val --out charts"
    )]
    Test(test::Args),
    /// Run a network over a dataset or an array and write the outputs
    #[command(
        override_usage = "ch predict [MODEL] [DATASET|ARRAYS] --out Y.npy [OPTIONS]",
        after_help = "Examples:
  ch predict jsc-tiny jsc-sim --load mase_output/demo --out y.npy"
    )]
    Predict(predict::Args),
    /// Run passes over a network: report, profile, quantise, prune, …
    #[command(
        override_usage = "ch transform <--config FILE|--pipeline NAME> [MODEL] [DATASET] [OPTIONS]",
        after_help = "Examples:
  ch transform --config configs/examples/jsc_toy_by_type.toml --project demo-toy
  ch transform --pipeline ptq jsc-tiny jsc-sim --load mase_output/demo --project demo-ptq"
    )]
    Transform(transform::Args),
    /// Search for the formats with the best trade of accuracy and cost
    #[command(
        override_usage = "ch search --config FILE [MODEL] [DATASET] [OPTIONS]",
        after_help = "Examples:
  ch search --config configs/examples/jsc_tiny_search.toml --load mase_output/demo --project demo-search
  ch search --config configs/examples/jsc_tiny_search.toml --load mase_output/demo --sampler random --n-trials 10"
    )]
    Search(search::Args),
    /// Do all that a config file asks for: train, test, search, …
    #[command(
        override_usage = "ch run FILE [OPTIONS]",
        after_help = "Examples:
  ch run configs/quickstart.toml"
    )]
    Run(run::Args),
    /// Compare two networks: formats, weights, errors of nodes, outputs
    #[command(after_help = "Examples:
  ch compare mase_output/demo mase_output/demo-ptq jsc-sim
  ch compare jsc-tiny jsc-tiny --num-samples 64")]
    Compare(compare::Args),
    /// Show a network on one page: graph, formats, errors, training
    #[command(
        override_usage = "ch report RUN|MODEL|FILE [DATASET] [OPTIONS]",
        after_help = "Examples:
  ch report mase_output/demo jsc-sim --out demo.html
  ch report mase_output/demo-ptq jsc-sim --against mase_output/demo --out change.html"
    )]
    Report(report::Args),
    /// Write a network as ONNX, for other programs
    #[command(
        override_usage = "ch export MODEL --out FILE.onnx [--to onnx|qdq|qonnx] [OPTIONS]",
        after_help = "Examples:
  ch export jsc-tiny --load mase_output/demo --out demo.onnx
  ch export mase_output/demo-ptq --to qdq --out demo-ptq.onnx"
    )]
    Export(export::Args),
    /// Turn a network in fixed point into hardware
    #[command(
        override_usage = "ch emit [MODEL] [DATASET] --out DIR [OPTIONS]",
        after_help = "Examples:
  ch emit jsc-tiny jsc-sim --load mase_output/demo-ptq --out demo-hw"
    )]
    Emit(emit::Args),
    /// Prove that emitted hardware computes its network, for every input
    #[command(after_help = "Examples:
  ch prove demo-hw
  ch prove demo-hw --check")]
    Prove(prove::Args),
    /// Simulate emitted hardware against the integer executor
    #[command(after_help = "Examples:
  ch simulate hw
  ch simulate hw --gates --target ice40 --rows 50")]
    Simulate(simulate::Args),
    /// Synthesise emitted hardware: LUTs by layer, the clock
    #[command(after_help = "Examples:
  ch synth hw --target ecp5
  ch synth hw --target ice40 --place --seeds 1")]
    Synth(synth::Args),
    /// Make a file of emitted hardware that a board loads
    #[command(after_help = "Examples:
  ch bitstream hw --board icebreaker")]
    Bitstream(bitstream::Args),
    /// Find, fetch and describe datasets
    #[command(after_help = "Examples:
  ch data list
  ch data info jsc-sim")]
    Data(data::Args),
    /// Print a network: its graph, shapes, parameters and costs
    #[command(after_help = "Examples:
  ch show jsc-tiny
  ch show mase_output/demo --batch-size 1")]
    Show(show::Args),
    /// List the names of a kind: operators, formats, models, …
    #[command(after_help = "Examples:
  ch list
  ch list models")]
    List(list::Args),
    /// Explain any name the program prints
    #[command(after_help = "Examples:
  ch explain val_loss_epoch
  ch explain Original type")]
    Explain(explain::Args),
    /// Put values under the microscope of a number format
    #[command(after_help = "Examples:
  ch format 'integer(8, 4)' 0.03125 1.97 8
  ch format 'minifloat_ieee(4, 2)' --table")]
    Format(format::Args),
    /// Print the help of a command
    #[command(after_help = "Examples:
  ch help train
  ch help data get")]
    Help(help::Args),
    /// Print a script for a shell: bash, zsh, fish, elvish, powershell
    #[command(after_help = "Examples:
  ch completions bash
  ch completions zsh

Now: source <(ch completions bash)
For good: ch completions bash > ~/.local/share/bash-completion/completions/ch
          ch completions zsh > DIR/_ch, for a DIR of $fpath
          ch completions fish > ~/.config/fish/completions/ch.fish")]
    Completions(completions::Args),
    /// Print a page of the manual
    #[command(after_help = "Examples:
  ch man
  ch man train

To read: ch man | man -l -
For good: ch man > ~/.local/share/man/man1/ch.1")]
    Man(man::Args),
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
            Self::Report(args) => report::run(args),
            Self::Export(args) => export::run(args),
            Self::Emit(args) => emit::run(args),
            Self::Prove(args) => prove::run(args),
            Self::Simulate(args) => simulate::run(args),
            Self::Synth(args) => synth::run(args),
            Self::Bitstream(args) => bitstream::run(args),
            Self::Data(args) => data::run(args),
            Self::Show(args) => show::run(args),
            Self::List(args) => list::run(args),
            Self::Explain(args) => explain::run(args),
            Self::Format(args) => format::run(args),
            Self::Help(args) => help::run(args),
            Self::Completions(args) => completions::run(args),
            Self::Man(args) => man::run(args),
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
    train::profile::COLUMNS,
    synth::COLUMNS,
    synth::PATH_COLUMNS,
    list::TOOL_COLUMNS,
];
