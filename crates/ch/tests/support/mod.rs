//! Driving the built binary as a user would.

use std::path::Path;
use std::process::Command;

/// The exit code and the output of a command.
pub struct Printed {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// Results.
    pub stdout: String,
    /// Errors.
    pub stderr: String,
}

/// Runs `ch` with a command line in a folder.
pub fn ch(arguments: &[String], folder: &Path) -> Printed {
    ch_with(arguments, folder, &[])
}

/// The same with variables of the environment; those of the caller's terminal do not count.
pub fn ch_with(arguments: &[String], folder: &Path, variables: &[(&str, &str)]) -> Printed {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ch"));
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.expect("the binary runs");
    Printed {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Words of a command line; quotes keep spaces together, as in a shell.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == c => quote = None,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The output of a command as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program prints UTF-8")
}
