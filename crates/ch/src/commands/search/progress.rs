//! The progress of a search on the console, and why trials fail.

use crate::output::Console;
use search::{Event, Search};
use std::collections::BTreeSet;
use std::time::Instant;
use study::{History, Trial};

/// Prints finished trials as a progress line.
pub struct Progress<'a> {
    search: &'a Search,
    console: &'a mut Console,
    started: Instant,
    finished: u64,
    last_line: Instant,
    /// The reasons of failed trials, each once.
    reasons: BTreeSet<String>,
}

/// Reasons that are printed; beyond them the number of failures is enough.
const MAX_REASONS: usize = 5;

/// Seconds between two plain lines.
const LINE_EVERY: f64 = 5.0;

impl<'a> Progress<'a> {
    /// The progress of a search that begins now.
    pub fn new(search: &'a Search, console: &'a mut Console) -> Self {
        Self {
            search,
            console,
            started: Instant::now(),
            finished: 0,
            last_line: Instant::now(),
            reasons: BTreeSet::new(),
        }
    }

    /// Prints how far the search is, or what it waits for.
    pub fn on_event(&mut self, event: Event) {
        match event {
            Event::Finished(trial, history) => self.on_trial(trial, history),
            Event::Waiting(line) => self.console.note(line),
        }
    }

    /// Prints why a trial failed, if that is new, and how far the search is.
    fn on_trial(&mut self, trial: &Trial, history: &History) {
        self.finished += 1;
        if let Some(note) = &trial.note
            && self.reasons.len() < MAX_REASONS
            && self.reasons.insert(note.clone())
        {
            self.console
                .note(&format!("trial {} failed: {note}", trial.number));
        }
        let (started, finished, search) = (self.started, self.finished, self.search);
        let line = || {
            progress(
                search,
                history,
                trial.number,
                finished as f64 / started.elapsed().as_secs_f64(),
            )
        };
        self.console.progress(line);
        if self.last_line.elapsed().as_secs_f64() > LINE_EVERY && !self.console.is_terminal() {
            self.console.print(&line());
            self.last_line = Instant::now();
        }
    }
}

fn progress(search: &Search, history: &History, number: u64, rate: f64) -> String {
    let best = if search.config.goals.directions().len() == 1 {
        let best = history.best().filter(|trial| trial.is_feasible());
        let value = best.map(|trial| trial.outcome.values[0]);
        value.map_or_else(String::new, |value| format!(", best {value:.4}"))
    } else {
        format!(", front {}", study::pareto::front(history).len())
    };
    format!(
        "trial {}/{}, {rate:.0} trials/s{best}",
        number + 1,
        search.config.n_trials
    )
}
