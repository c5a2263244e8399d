//! The page of a network: its numbers are those of the other commands, and what cannot be shown is said.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../report/tests/browser/mod.rs"]
mod browser;
mod browser_pictures;
#[path = "../folder/mod.rs"]
mod folder;
mod hostile;
mod left;
mod numbers;
mod options;
mod pictures;
#[path = "../schema/mod.rs"]
mod schema;
mod sizes;
#[path = "../support/mod.rs"]
mod support;
mod zoo;

use schema::Schema;
use serde_json::Value as Json;
use std::path::Path;
use support::{ch, words};

/// The output of a command, which must end with 0.
fn printed(command: &str, folder: &Path) -> String {
    let output = ch(&words(command), folder);
    assert_eq!(output.code, Some(0), "{command}: {}", output.stderr);
    output.stdout
}

/// The one sentence of a command that ends with 2.
fn refused(command: &str, folder: &Path) -> String {
    let output = ch(&words(command), folder);
    assert_eq!(output.code, Some(2), "{command}: {}", output.stdout);
    output.stderr
}

fn read(path: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The data that a page holds, which must be as the schema in the book says.
fn data_of(page: &Path) -> Json {
    let html = std::fs::read_to_string(page).unwrap();
    let data: Json = serde_json::from_str(report::page::data_text(&html).unwrap()).unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report-json.schema.json");
    let problems = Schema(read(&schema)).problems(&data);
    assert_eq!(problems, [""; 0], "{}", page.display());
    data
}

/// The data of the page that `ch report` writes with these arguments.
fn reported(arguments: &str, folder: &Path) -> Json {
    printed(&format!("report {arguments} --out r.html"), folder);
    data_of(&folder.join("r.html"))
}

/// A short training and its quantised network, in `mase_output/float` and `mase_output/rounded`.
fn trained(folder: &Path) {
    let train = "train jsc-tiny jsc-sim --max-epochs 2 --project float --quiet";
    let round = "transform --pipeline ptq jsc-tiny jsc-sim --load mase_output/float --project rounded --quiet";
    for command in [train, round] {
        printed(command, folder);
    }
}

/// The entry of a list whose key has a value.
fn entry<'a>(list: &'a Json, key: &str, value: &str) -> &'a Json {
    let mut entries = list.as_array().unwrap().iter();
    let found = entries.find(|entry| entry[key] == value);
    found.unwrap_or_else(|| panic!("no {key} {value} in {list}"))
}

/// True for a number of the page, which has four digits, that is another number.
fn is_near(shown: &Json, exact: f64) -> bool {
    let shown = shown.as_f64().unwrap();
    (shown - exact).abs() <= 5.1e-4 * exact.abs() + 1e-12
}
