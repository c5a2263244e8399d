//! The result of a search, for people and for programs.

use crate::commands::test::test_command;
use crate::output::number::count;
use crate::output::{Role, Stream, fit};
use crate::settings::Settings;
use search::results::{BestTable, MAX_GRAPHS, Report, importances};
use search::{Ending, Results};
use serde_json::{Value as Json, json};
use std::path::Path;
use study::{State, Trial};

/// Importances that are printed at most, and the share below which none is.
const MAX_IMPORTANCES: usize = 5;
const MIN_IMPORTANCE: f64 = 0.005;

/// The room under the numbers of the trials in the table of the best.
const UNDER_NUMBERS: &str = "        ";

/// The result of a search.
pub struct Outcome {
    /// Text for people.
    pub text: String,
    /// JSON for programs.
    pub json: Json,
}

impl Outcome {
    /// The outcome of a search whose files are in `folder`.
    pub fn of(report: &Report, settings: &Settings, folder: &Path) -> Self {
        let folder = folder.join("search_ckpts");
        let page = folder.join("report.html");
        let mut lines = vec![
            headline(report.results),
            best(report, &folder.join("trials.csv")),
        ];
        lines.extend(importance(report));
        lines.push(format!("look at it: {}", page.display()));
        // Of a front, the best in the first objective.
        if let Some(best) = report.best_spread(MAX_GRAPHS).first() {
            let graph = folder.join(format!("best/trial_{}.mz", best.number));
            let command = test_command(settings, &report.search.network.name, &graph);
            lines.push(format!("use it: {command}"));
        }
        let Results {
            history,
            ending,
            time,
            ..
        } = report.results;
        Self {
            text: lines.join("\n") + "\n",
            json: json!({
                "trials": history.trials().len(),
                "ending": ending_words(*ending),
                "seconds": time.as_secs_f64(),
                "best": report.best_json(),
                "nearest": report.nearest().map(|trial| report.row(trial)),
                "folder": folder,
            }),
        }
    }
}

fn headline(results: &Results) -> String {
    let trials = results.history.trials();
    let has_failed = |trial: &&Trial| trial.outcome.state == State::Failed;
    let failed = match trials.iter().filter(has_failed).count() {
        0 => String::new(),
        failed => format!(" ({failed} failed)"),
    };
    let seconds = results.time.as_secs_f64();
    format!(
        "{}{failed}, {}, in {seconds:.2} s ({:.0} trials/s)",
        count(trials.len() as u64, "trial"),
        ending_words(results.ending),
        results.ran as f64 / seconds.max(1e-9),
    )
}

fn ending_words(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "done",
        Ending::Exhausted => "every configuration was tried",
        Ending::Stopped => "stopped",
        Ending::TimedOut => "out of time",
    }
}

/// The best trials, or the trial that is nearest to the budget when none is within it.
fn best(report: &Report, log: &Path) -> String {
    match report.nearest() {
        None if report.results.history.trials().is_empty() => "no trial was finished".to_owned(),
        Some(trial) => format!(
            "no trial keeps the budget; nearest: trial {}, {}",
            trial.number,
            report.excess(trial)
        ),
        None => format!("\nBest trial(s):\n{}", best_table(report, log)),
    }
}

/// One line for every distinct result, the first painted, and how many further trials have it too.
fn best_table(report: &Report, log: &Path) -> String {
    let BestTable { table, ties } = report.best_table();
    let whole = log.display().to_string();
    fit::decorated_table(&table, Stream::Out, &whole, |row, line| {
        let line = if row == 0 {
            Stream::Out.paint(Role::Best, &line)
        } else {
            line
        };
        match ties[row] {
            0 => line,
            more => {
                let more = format!("{UNDER_NUMBERS}{more} more with these values");
                format!("{line}\n{}", Stream::Out.paint(Role::Unchanged, &more))
            }
        }
    })
}

/// The parameters that the first objective depends on.
fn importance(report: &Report) -> Option<String> {
    let all = importances(report.search, report.results);
    let (name, shares) = all.into_iter().next()?;
    let share = |(parameter, share): &(String, f64)| format!("{parameter} {:.0}%", 100.0 * share);
    let shown: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share >= MIN_IMPORTANCE)
        .take(MAX_IMPORTANCES)
        .map(share)
        .collect();
    let about = "of its variance over these trials, each by itself; shares overlap and need not add up to 100%";
    let line = format!("what {name} depends on: {}\n({about})", shown.join(", "));
    (!shown.is_empty()).then(|| fit::message(&line, 0, Stream::Out))
}
