//! The command line of MASE: one verb, one file under `actions`.
//!
//! An action returns what it has to say; here it is printed. Results go to stdout, errors to stderr as a sentence.
//! Exit codes: 0 done, 1 a check failed, 2 error.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;

mod actions;
mod calendar;
mod console;
mod number;
mod output;
mod pipeline;
mod settings;
mod source;
mod table;
mod usage;
mod vocabulary;

use actions::{
    compare, data, explain, format, list, predict, run, search, show, test, train, transform,
};

/// Explore number formats, networks and hardware.
#[derive(Parser)]
#[command(name = "ch", version, styles = clap::builder::Styles::plain(), disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Train a network; keep the best and the last checkpoint
    #[command(override_usage = "ch train [MODEL] [DATASET] [OPTIONS]")]
    Train(train::Args),
    /// Loss and accuracy on the test rows
    #[command(override_usage = "ch test [MODEL] [DATASET] [OPTIONS]")]
    Test(test::Args),
    /// Run a network over a dataset or an array and write the outputs
    #[command(override_usage = "ch predict [MODEL] [DATASET|ARRAY.npy] --out Y.npy [OPTIONS]")]
    Predict(predict::Args),
    /// Run the passes of a config file over a network: report, profile, quantise, prune, count, …
    #[command(override_usage = "ch transform --config FILE [MODEL] [DATASET] [OPTIONS]")]
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

/// What an action has to say, and whether what it checked was good.
struct Reply {
    text: String,
    is_good: bool,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self {
            text,
            is_good: true,
        }
    }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map_or_else(String::new, |at| format!(" at {at}"));
        eprintln!(
            "error: the program has a fault{place}: {}",
            panic_message(panic)
        );
        std::process::exit(2);
    }));
    let cli = match usage::parse() {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    let result = match &cli.action {
        Action::Train(args) => train::run(args),
        Action::Test(args) => test::run(args),
        Action::Predict(args) => predict::run(args),
        Action::Transform(args) => transform::run(args),
        Action::Search(args) => search::run(args),
        Action::Run(args) => run::run(args),
        Action::Compare(args) => compare::run(args),
        Action::Data(args) => data::run(args),
        Action::Show(args) => show::run(args).map(Reply::from),
        Action::List(args) => list::run(args).map(Reply::from),
        Action::Explain(args) => explain::run(args).map(Reply::from),
        Action::Format(args) => format::run(args).map(Reply::from),
    };
    match result {
        Ok(reply) if !reply.is_good => {
            print(&reply.text);
            ExitCode::FAILURE
        }
        Ok(reply) => print(&reply.text),
        Err(error) => fail(&message(&error)),
    }
}

/// An error with its causes. Some errors name their cause themselves; it is not said twice.
fn message(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    let join = |text: String, cause: String| {
        if text.ends_with(&cause) {
            text
        } else {
            format!("{text}: {cause}")
        }
    };
    causes.reduce(join).unwrap_or_default()
}

/// Prints a result. A reader that has gone away, as in `ch list ops | head -1`, has seen enough.
fn print(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(&format!("cannot write the result: {error}"))
        }
        _ => ExitCode::SUCCESS,
    }
}

fn fail(message: &str) -> ExitCode {
    // There is nowhere left to report that stderr is closed.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(2)
}

fn panic_message<'a>(panic: &'a std::panic::PanicHookInfo) -> &'a str {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}
