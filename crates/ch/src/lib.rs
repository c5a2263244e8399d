//! The command line of MASE: a command is a file or folder under `commands`, and [`library`] is the part that others call.
//!
//! A command returns its `Output`, which is printed here. Results go to stdout, errors to stderr as a sentence.
//! Exit codes: 0 done, 1 a check failed, 2 error, 130 ended early by Ctrl-C.
#![forbid(unsafe_code)]

use output::{print, print_error};
use std::ffi::OsString;
use std::panic::PanicHookInfo;

mod checkpoints;
mod classes;
mod command_line;
mod commands;
mod hardware;
mod interrupt;
pub mod library;
mod missing;
mod network;
mod output;
mod pipeline;
mod rows;
mod settings;
mod source;
mod vocabulary;

/// Runs the program with the words of a command line, the first of which is its own name, and gives its exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    std::panic::set_hook(Box::new(exit_on_panic));
    let command = match command_line::parse(words) {
        Ok(command) => command,
        Err(error) => return command_line::print_error(&error),
    };
    match command.run() {
        Ok(output) if output.interrupted => {
            print(&output.text);
            interrupt::EXIT_CODE
        }
        Ok(output) if output.passed => print(&output.text),
        Ok(output) => {
            print(&output.text);
            1
        }
        Err(error) => print_error(&chain(&error)),
    }
}

/// An error with its causes. A cause that an error already quotes is not repeated.
fn chain(error: &anyhow::Error) -> String {
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

fn exit_on_panic(panic: &PanicHookInfo) {
    let place = panic
        .location()
        .map_or_else(String::new, |location| format!(" at {location}"));
    let message = panic.payload_as_str().unwrap_or("no reason given");
    print_error(&format!(
        "internal error{place}: {message}; please report it"
    ));
    std::process::exit(2);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const CHILD: &str = "CH_TEST_PANICS";

    /// The test starts itself, and that process panics.
    #[test]
    fn a_panic_is_one_sentence_and_exit_code_2() {
        if std::env::var_os(CHILD).is_some() {
            std::panic::set_hook(Box::new(exit_on_panic));
            panic!("the tests ask for it");
        }
        let mut child = Command::new(std::env::current_exe().expect("a test has a file"));
        child.args(["tests::a_panic_is_one_sentence_and_exit_code_2", "--exact"]);
        let output = child.arg("--nocapture").env(CHILD, "1").output();
        let output = output.expect("the test runs once more");
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        let (start, end) = (
            "error: internal error at ",
            ": the tests ask for it; please report it",
        );
        let is_sentence = |line: &str| line.starts_with(start) && line.ends_with(end);
        assert_eq!(
            stderr.lines().filter(|line| is_sentence(line)).count(),
            1,
            "{stderr}"
        );
    }
}
