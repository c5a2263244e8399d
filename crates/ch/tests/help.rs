//! Help as a user asks for it: one screen, examples that run, completions, pages of the manual.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod configs;
#[path = "../../hw/tests/emitted/mod.rs"]
mod emitted;
mod folder;
mod support;

use configs::copy_configs;
use emitted::{has_all_tools, pipelined_at};
use folder::Folder;
use serde_json::Value as Json;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use support::{ch, words};

/// The output of a command that must succeed.
fn printed(line: &str, folder: &Path) -> String {
    let printed = ch(&words(line), folder);
    assert_eq!(printed.code, Some(0), "ch {line}: {}", printed.stderr);
    printed.stdout
}

fn commands(folder: &Path) -> Vec<String> {
    let list: Json = serde_json::from_str(&printed("list commands --json", folder)).unwrap();
    let names = list.as_array().unwrap().iter();
    names
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Every command and every verb of one, as in `data get`.
fn all_commands(folder: &Path) -> Vec<String> {
    let mut all = commands(folder);
    all.extend(["data list", "data get", "data info"].map(str::to_owned));
    all
}

/// The command lines at the end of a help.
fn examples(help: &str) -> Vec<&str> {
    let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_default();
    let lines = examples.lines().take_while(|line| !line.is_empty());
    lines.map(str::trim).collect()
}

#[test]
fn the_help_of_the_program_fits_a_screen() {
    let folder = Folder::new("help_screen");
    let help = printed("--help", &folder);
    assert!(help.lines().count() <= 23, "a prompt follows:\n{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(printed("help", &folder), help);
    assert_eq!(printed("-h", &folder), help);
    assert_eq!(printed("-V", &folder), printed("--version", &folder));
}

#[test]
fn help_first_or_last_is_the_same() {
    let folder = Folder::new("help_same");
    for command in all_commands(&folder) {
        let last = printed(&format!("{command} --help"), &folder);
        assert_eq!(printed(&format!("help {command}"), &folder), last);
    }
    let error = ch(&words("help trian"), &folder).stderr;
    assert_eq!(
        error,
        "error: unknown command 'trian'; did you mean 'train'?\n"
    );
}

/// The examples of all commands, in one folder and in the order of the commands.
#[test]
fn every_help_ends_in_examples_that_run() {
    let folder = Folder::new("help_examples");
    copy_configs(&folder);
    let _hardware = pipelined_at(&folder.join("hw"));
    let has_tools = has_all_tools();
    let mut helps = vec![printed("--help", &folder)];
    let all = all_commands(&folder);
    helps.extend(
        all.iter()
            .map(|command| printed(&format!("help {command}"), &folder)),
    );
    for help in helps {
        let examples = examples(&help);
        assert!(!examples.is_empty(), "no examples:\n{help}");
        for example in examples {
            let line = example.strip_prefix("ch ").unwrap();
            let needs_tools = ["simulate", "synth", "bitstream"]
                .iter()
                .any(|command| line.starts_with(command));
            if needs_tools && !has_tools {
                continue;
            }
            printed(line, &folder);
        }
    }
}

#[test]
fn every_shell_completes_every_command() {
    let folder = Folder::new("help_completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&format!("completions {shell}"), &folder);
        for command in commands(&folder) {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("learning-rate"), "{shell}");
    }
    let error = ch(&words("completions tcsh"), &folder).stderr;
    assert!(
        error.starts_with("error: ") && error.contains("bash"),
        "{error}"
    );
}

/// bash itself completes with the script.
#[test]
fn bash_completes_a_command() {
    let folder = Folder::new("help_bash");
    let Ok(mut bash) = Command::new("bash")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        eprintln!("skipped: there is no bash");
        return;
    };
    let script = printed("completions bash", &folder);
    let question = "\nCOMP_WORDS=(ch tra); COMP_CWORD=1; _ch ch tra ch; echo \"${COMPREPLY[@]}\"\n";
    let mut stdin = bash.stdin.take().unwrap();
    stdin.write_all((script + question).as_bytes()).unwrap();
    drop(stdin);
    let answer = bash.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8(answer.stdout).unwrap(),
        "train transform\n"
    );
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let folder = Folder::new("help_man");
    let program = printed("man", &folder);
    assert!(program.contains(".TH ch 1"), "{program}");
    for command in all_commands(&folder) {
        let page = printed(&format!("man {command}"), &folder);
        let name = command.replace(' ', "-");
        assert!(page.contains(&format!(".TH ch-{name} 1")), "{page}");
        assert!(page.contains("Examples:"), "{page}");
    }
    for command in commands(&folder) {
        assert!(program.contains(&command), "{command}");
    }
}
