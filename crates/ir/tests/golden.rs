//! Golden files: a text above `----`, and below it what comes of reading it: the graph printed again, the rules it
//! breaks, or the errors in the text. `BLESS=1 cargo test -p ir` rewrites what is below the line.

use ir::{Graph, verify};
use std::fs;
use std::path::{Path, PathBuf};

const LINE: &str = "----\n";

fn outcome(input: &str) -> String {
    let graph = match Graph::parse(input) {
        Ok(graph) => graph,
        Err(errors) => return format!("{errors}\n"),
    };
    match verify(&graph) {
        Ok(_) => graph.to_string(),
        Err(error) => format!("{error}\n"),
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(folder).expect("the folder of golden files");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a golden file").path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_golden_file_gives_what_it_says() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let (input, expected) = text.split_once(LINE).unwrap_or((&text, ""));
        let got = outcome(input);
        if bless {
            fs::write(&path, format!("{input}{LINE}{got}")).unwrap();
        } else if got != expected {
            wrong.push(format!(
                "{}:\n--- expected\n{expected}--- got\n{got}",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_golden_file_prints_is_stable() {
    let mut n_graphs = 0;
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let input = text
            .split_once(LINE)
            .map_or(text.as_str(), |(input, _)| input);
        if let Ok(graph) = Graph::parse(input) {
            let printed = graph.to_string();
            let again =
                Graph::parse(&printed).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            assert_eq!(again, graph, "{}", path.display());
            assert_eq!(again.to_string(), printed, "{}", path.display());
            n_graphs += 1;
        }
    }
    assert!(n_graphs >= 5, "only {n_graphs} golden files hold a graph");
}
