//! Networks with operators of other programs: they are shown, counted and reported, and name what stands in the way of running.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod folder;

use commands::Workspace;
use serde_json::Value as Json;
use std::fs;

const NET: &str = "graph \"g\" {
  x: f32[N, 4] = placeholder
  mm = linear(x) { in_features = 4, out_features = 3 }
  act = opaque(mm) {
    operator = \"Wobble\", version = 17, results = [\"f32[N, 3]\"],
    source = \"0a130a017a12016f1a036163742206576f62626c655a030a017a\",
  }
  return act
}
";

fn workspace(name: &str) -> Workspace {
    let workspace = Workspace::new(name);
    workspace.write("g.mg", NET);
    workspace
}

#[test]
fn costs_of_an_unknown_operator_are_said_to_be_unknown() {
    let workspace = workspace("foreign_costs");
    let shown = workspace.run("show g.mg");
    let shown = String::from_utf8(shown.stdout).unwrap();
    let row = |name: &str| -> Vec<String> {
        let line = shown
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(row("act")[6..], ["0", "unknown", "unknown"], "{shown}");
    assert_eq!(
        row("total")[1..],
        ["15", "96", "+", "unknown", "101376", "+", "unknown"],
        "{shown}"
    );
    let network = workspace.run("show g.mg --json").stdout;
    let network: Json = serde_json::from_slice(&network).unwrap();
    assert_eq!(network["total"]["unknown"], 1);
    workspace.write(
        "passes.toml",
        "[passes.count_flops]\n[passes.count_bitops]\n",
    );
    let counted = workspace.run("transform g.mg --config passes.toml --quiet");
    let counted = String::from_utf8(counted.stdout).unwrap();
    assert!(counted.contains(": 96 + unknown"), "{counted}");
    assert!(counted.contains(": 101376 + unknown"), "{counted}");
}

#[test]
fn the_page_of_a_network_that_cannot_run_has_what_needs_no_rows() {
    let workspace = workspace("foreign_page");
    let output = workspace.run("report g.mg --json page.json --svg page.svg");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let sentence = "the page has no profiles, errors or accuracy: act (Wobble) cannot run";
    assert!(said.contains(sentence), "{said}");
    let page = fs::read_to_string(workspace.0.join("page.json")).unwrap();
    let page: Json = serde_json::from_str(&page).unwrap();
    let facts = page["facts"].as_array().unwrap();
    let fact = |name: &str| facts.iter().find(|fact| fact["name"] == name).unwrap();
    assert_eq!(fact("data")["after"], "none: the network cannot run");
    assert_eq!(fact("unknown nodes")["after"], 1);
    assert!(workspace.0.join("page.svg").exists());
}

#[test]
fn running_names_the_node_and_its_operator() {
    let workspace = workspace("foreign_run");
    let rows = (0..40).map(|k| format!("{k},2,{},4,{}\n", k % 7, k % 3));
    workspace.write(
        "rows.csv",
        &format!("a,b,c,d,y\n{}", rows.collect::<String>()),
    );
    for command in [
        "predict g.mg rows.csv:y --out y.csv --quiet",
        "test g.mg rows.csv:y --quiet",
        "train g.mg rows.csv:y --max-epochs 1 --quiet",
    ] {
        let error = workspace.error(command, 2);
        assert!(
            error.contains("act (Wobble) cannot run"),
            "{command}: {error}"
        );
    }
}
