//! Names and lines of files that hold commands for a terminal: they are shown, never sent.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use serde_json::{Value as Json, json};
use std::fs;
use support::{ch, ch_with, words};

/// Sets the title of a window, rings, goes back to the start of the line, clears the screen; in C1 and colours too.
const HOSTILE: &str = "a\x1b]0;title\x07\r\x1b[2Jb\u{9b}2J\x1b[1;31mred\u{202e}\x7f";

/// The colours that the program itself uses.
const COLORS: &[&str] = &["0", "1;31", "1;33", "1", "1;32", "36", "2"];

/// A file of weights with one tensor of this name.
fn safetensors(name: &str) -> Vec<u8> {
    let header = json!({ name: { "dtype": "F32", "shape": [1], "data_offsets": [0, 4] } });
    let header = header.to_string().into_bytes();
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], &header, &[0; 4]].concat()
}

/// A folder with a table, weights, a graph and settings that hold [`HOSTILE`].
fn hostile(name: &str) -> Folder {
    let folder = Folder::new(&format!("control_characters_{name}"));
    let rows = format!("1,iris\n2,{HOSTILE}\n").repeat(20);
    let table = format!("\"{HOSTILE}\",label\n{rows}");
    fs::write(folder.join("table.csv"), table).unwrap();
    fs::write(folder.join("cell.csv"), format!("x,label\n{HOSTILE},1\n")).unwrap();
    fs::write(folder.join("weights.safetensors"), safetensors(HOSTILE)).unwrap();
    fs::write(folder.join("wrong.mg"), format!("graph {HOSTILE} {{")).unwrap();
    fs::write(folder.join("wrong.toml"), format!("{HOSTILE} = 1")).unwrap();
    folder
}

/// The command lines, with words that the escaped text leads to.
const LINES: &[(&str, &str)] = &[
    ("data info table.csv:label", "\\u{1b}]0;title"),
    ("data info table.csv:nowhere", "\\u{1b}]0;title"),
    ("data info cell.csv:label", "\\u{1b}]0;title"),
    ("show weights.safetensors", "\\u{1b}]0;title"),
    (
        "test jsc-tiny jsc-sim --load weights.safetensors",
        "\\u{1b}]0;title",
    ),
    (
        "test jsc-tiny jsc-sim --strict --load weights.safetensors",
        "\\u{1b}]0;title",
    ),
    ("show wrong.mg", "\\u{1b}"),
    ("train jsc-tiny jsc-sim --config wrong.toml", "\\u{1b}"),
    (
        "train jsc-tiny table.csv:label --max-steps 1 --project net",
        "28 training",
    ),
];

/// The text without the program's own colours.
fn without_colors(text: &str) -> String {
    let mut text = text.to_owned();
    for code in COLORS {
        text = text.replace(&format!("\x1b[{code}m"), "");
    }
    text
}

#[test]
fn names_and_lines_of_files_are_shown_and_never_sent() {
    let folder = hostile("text");
    for (line, expected) in LINES {
        for variables in [&[][..], &[("CLICOLOR_FORCE", "1")]] {
            let printed = ch_with(&words(line), &folder, variables);
            let whole = printed.stdout + &printed.stderr;
            let is_colored = !variables.is_empty();
            let plain = if is_colored {
                without_colors(&whole)
            } else {
                whole
            };
            let sent = plain
                .chars()
                .find(|&c| report::is_command(c) && !matches!(c, '\n' | '\t'));
            assert_eq!(sent, None, "{line}: {plain:?}");
            assert!(plain.contains(expected), "{line}: {plain:?}");
        }
    }
}

#[test]
fn json_holds_the_names_as_they_are() {
    let folder = hostile("json");
    let line = "data info table.csv:label --json";
    let printed = ch(&words(line), &folder);
    let sent = printed
        .stdout
        .chars()
        .find(|&c| report::is_command(c) && c != '\n');
    assert_eq!(sent, None, "{line}");
    assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
    let json: Json = serde_json::from_str(&printed.stdout).unwrap();
    assert!(holds(&json, HOSTILE), "{line}: {json}");
}

/// True when a key or a text of the JSON is this one.
fn holds(json: &Json, text: &str) -> bool {
    match json {
        Json::String(own) => own == text,
        Json::Array(items) => items.iter().any(|item| holds(item, text)),
        Json::Object(pairs) => pairs
            .iter()
            .any(|(key, value)| key == text || holds(value, text)),
        _ => false,
    }
}
