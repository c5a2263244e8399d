//! The console of a long command: lines, and a progress line on a terminal.

use super::fit;
use super::terminal::{Role, Stream};
use report::escape;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The options of every command that prints progress.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct OutputArgs {
    /// Print the result as JSON on standard output, and nothing else there
    #[arg(long, help_heading = "What is said")]
    pub json: bool,
    /// Say only the result
    #[arg(long, help_heading = "What is said")]
    pub quiet: bool,
    /// Print plain lines instead of a moving progress line
    #[arg(long, help_heading = "What is said")]
    pub no_progress: bool,
}

/// The amount of printing, in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Errors alone.
    Error,
    /// Notes too.
    Warning,
    /// And progress.
    Info,
    /// And every file that is written.
    Debug,
}

/// The word in front of a note.
const NOTE: &str = "note:";

/// The time between two changes of the progress line.
const REFRESH: Duration = Duration::from_millis(100);

/// Lines and a progress line. Results are not printed here: they go to standard output at the end.
#[derive(Debug)]
pub struct Console {
    is_json: bool,
    level: Level,
    is_terminal: bool,
    is_drawn: bool,
    last: Option<Instant>,
    noted: BTreeSet<String>,
    /// The notes of a console that prints nothing.
    recorded: Option<Vec<String>>,
}

impl Console {
    /// A console that prints what `level` lets through; `--quiet` leaves errors alone.
    pub fn new(output: OutputArgs, level: Level) -> Self {
        let level = if output.quiet { Level::Error } else { level };
        let shows_progress = level >= Level::Info && !output.no_progress;
        Self {
            is_json: output.json,
            level,
            is_terminal: shows_progress && io::stderr().is_terminal(),
            is_drawn: false,
            last: None,
            noted: BTreeSet::new(),
            recorded: None,
        }
    }

    /// A console that prints nothing and collects the notes.
    pub fn recording() -> Self {
        let mut console = Self::new(OutputArgs::default(), Level::Warning);
        console.recorded = Some(Vec::new());
        console
    }

    /// The notes that a recording console has collected since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.recorded
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// True when a progress line is shown.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The stream that lines go to: standard output, or standard error when standard output is for JSON.
    pub fn stream(&self) -> Stream {
        if self.is_json {
            Stream::Err
        } else {
            Stream::Out
        }
    }

    /// True when lines of a level are printed.
    pub fn shows(&self, level: Level) -> bool {
        self.level >= level
    }

    /// Prints a line, or a text of several.
    pub fn print(&mut self, line: &str) {
        self.print_text(|stream| fit::message(&stream.printable(line), 0, stream));
    }

    /// Prints a line in the colour of its role.
    pub fn print_as(&mut self, role: Role, line: &str) {
        let line = escape(line);
        self.print_text(|stream| stream.paint(role, &fit::message(&line, 0, stream)));
    }

    fn print_text(&mut self, text: impl FnOnce(Stream) -> String) {
        if !self.shows(Level::Info) {
            return;
        }
        self.clear();
        let stream = self.stream();
        let text = text(stream);
        // A reader that has gone away has seen enough.
        let _ = match stream {
            Stream::Out => writeln!(io::stdout(), "{text}"),
            Stream::Err => writeln!(io::stderr(), "{text}"),
        };
    }

    /// Prints a line at the level of debugging.
    pub fn debug(&mut self, line: &str) {
        if self.level >= Level::Debug {
            self.print(&format!("debug: {line}"));
        }
    }

    /// Prints a note that the user should see, on standard error; the same note once.
    pub fn note(&mut self, line: &str) {
        if self.level >= Level::Warning && self.noted.insert(line.to_owned()) {
            if let Some(recorded) = &mut self.recorded {
                return recorded.push(line.to_owned());
            }
            self.clear();
            let word = Stream::Err.paint(Role::Note, NOTE);
            let line = fit::message(&escape(line), NOTE.len() + 1, Stream::Err);
            let _ = writeln!(io::stderr(), "{word} {line}");
        }
    }

    /// Shows a line that the next one replaces; nothing when not on a terminal.
    pub fn progress(&mut self, line: impl FnOnce() -> String) {
        if !self.is_terminal || self.last.is_some_and(|last| last.elapsed() < REFRESH) {
            return;
        }
        let line = Stream::Err.printable(&line());
        let _ = write!(io::stderr(), "{CLEAR}{NO_WRAP}{line}{WRAP}");
        let _ = io::stderr().flush();
        self.is_drawn = true;
        self.last = Some(Instant::now());
    }

    /// Shows the progress of a download.
    pub fn transfer(&mut self, name: &str, have: u64, all: Option<u64>) {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        self.progress(|| match all {
            Some(all) => format!(
                "fetching {name}: {:.1} of {:.1} MB",
                megabytes(have),
                megabytes(all)
            ),
            None => format!("fetching {name}: {:.1} MB", megabytes(have)),
        });
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(io::stderr(), "{CLEAR}");
            // The line comes back with the next step, however short the epochs are.
            self.last = None;
        }
    }
}

/// Erases the line. A line wider than the terminal is cut, not wrapped: the next one could not replace it.
const CLEAR: &str = "\r\x1b[2K";
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

impl Drop for Console {
    fn drop(&mut self) {
        self.clear();
    }
}
