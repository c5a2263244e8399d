//! What a long action says while it works: lines, and a progress line on a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How an action speaks.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Voice {
    /// Print the result as JSON on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Say only the result
    #[arg(long)]
    pub quiet: bool,
    /// Print plain lines instead of a moving progress line
    #[arg(long)]
    pub no_progress: bool,
}

/// Between two changes of the progress line.
const REFRESH: Duration = Duration::from_millis(100);

/// Lines and a progress line. Results are not its business: they go to standard output at the end.
#[derive(Debug)]
pub struct Console {
    voice: Voice,
    is_terminal: bool,
    drawn: usize,
    last: Option<Instant>,
}

impl Console {
    pub fn new(voice: Voice) -> Self {
        let is_terminal = io::stderr().is_terminal() && !voice.no_progress && !voice.quiet;
        Self {
            voice,
            is_terminal,
            drawn: 0,
            last: None,
        }
    }

    /// Says a line, on standard output, or on standard error when that is kept for JSON.
    pub fn say(&mut self, line: &str) {
        if self.voice.quiet {
            return;
        }
        self.clear();
        // A reader that has gone away has seen enough.
        let _ = if self.voice.json {
            writeln!(io::stderr(), "{line}")
        } else {
            writeln!(io::stdout(), "{line}")
        };
    }

    /// Says something the user should know, on standard error.
    pub fn note(&mut self, line: &str) {
        if !self.voice.quiet {
            self.clear();
            let _ = writeln!(io::stderr(), "note: {line}");
        }
    }

    /// Shows a line that the next one replaces; nothing when not on a terminal.
    pub fn progress(&mut self, line: impl FnOnce() -> String) {
        if !self.is_terminal || self.last.is_some_and(|last| last.elapsed() < REFRESH) {
            return;
        }
        let line = line();
        let width = line.chars().count();
        let rest = " ".repeat(self.drawn.saturating_sub(width));
        let _ = write!(io::stderr(), "\r{line}{rest}");
        let _ = io::stderr().flush();
        self.drawn = width;
        self.last = Some(Instant::now());
    }

    fn clear(&mut self) {
        if self.drawn > 0 {
            let _ = write!(io::stderr(), "\r{}\r", " ".repeat(self.drawn));
            self.drawn = 0;
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.clear();
    }
}
