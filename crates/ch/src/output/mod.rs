//! The output of a command: lines on the console, the result on standard output, files in the folder of a run.

pub mod calendar;
pub mod console;
pub mod fit;
pub mod folder;
pub mod number;
pub mod terminal;

pub use console::{Console, Level, OutputArgs};
pub use folder::Folder;
pub use terminal::{Role, Stream};

use std::io::{self, Write};

/// The result of a command.
pub struct Output {
    /// Text for standard output.
    pub text: String,
    /// False when a check of the command failed; the exit code is 1 then.
    pub passed: bool,
    /// True when Ctrl-C ended the command early; the exit code is 130 then.
    pub interrupted: bool,
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self {
            text,
            passed: true,
            interrupted: false,
        }
    }
}

/// Prints a result and gives the exit code. A reader that has gone away, as in `ch list ops | head -1`, has seen enough.
pub fn print(text: &str) -> u8 {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(Stream::Out.printable(text).as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            print_error(&format!("cannot write the result: {error}"))
        }
        _ => 0,
    }
}

/// The word in front of an error.
const ERROR: &str = "error:";

/// Prints an error and gives the exit code.
pub fn print_error(message: &str) -> u8 {
    // There is nowhere left to report that stderr is closed.
    let message = fit::message(&report::escape(message), ERROR.len() + 1, Stream::Err);
    let word = Stream::Err.paint(Role::Error, ERROR);
    let _ = writeln!(io::stderr(), "{word} {}", marked(&message));
    2
}

/// A message whose marks under quoted lines are painted.
fn marked(message: &str) -> String {
    let is_mark = |line: &str| !line.trim().is_empty() && line.trim().chars().all(|c| c == '^');
    let lines = message.split('\n').map(|line| {
        if is_mark(line) {
            Stream::Err.paint(Role::Error, line)
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// JSON for tools, in one piece and with a line end. Commands for a terminal are escaped, those too that JSON allows.
pub fn json_text(json: &serde_json::Value) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(json)? + "\n";
    let is_command = |c: char| report::is_command(c) && c != '\n';
    if !text.contains(is_command) {
        return Ok(text);
    }
    let escaped = |c: char| match c {
        c if is_command(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    Ok(text.chars().map(escaped).collect())
}
