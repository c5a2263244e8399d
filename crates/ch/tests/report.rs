//! The page of a network: its numbers are those of the other commands, and what cannot be shown is said.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use serde_json::Value as Json;
use std::collections::BTreeSet;
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

fn trained(folder: &Path) {
    printed(
        "train jsc-tiny jsc-sim --max-epochs 2 --project float --quiet",
        folder,
    );
    printed(
        "transform --pipeline ptq jsc-tiny jsc-sim --load mase_output/float --project rounded --quiet",
        folder,
    );
}

#[test]
fn numbers_are_those_of_the_other_commands() {
    let folder = Folder::new("report_numbers");
    trained(&folder);
    let page = "report mase_output/rounded jsc-sim --against mase_output/float --num-samples 200 --json r.json --out r.html";
    printed(page, &folder);
    let data = read(&folder.join("r.json"));
    let compare = printed(
        "compare mase_output/float mase_output/rounded jsc-sim --num-samples 200 --json",
        &folder,
    );
    let compare: Json = serde_json::from_str(&compare).unwrap();
    let mut checked = 0;
    for error in compare["facts"]["node_errors"]
        .as_array()
        .or(compare["node_errors"].as_array())
        .unwrap()
    {
        let mut nodes = data["graph"]["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|node| node["name"] == error["node"]).unwrap();
        if let Some(sqnr) = error["sqnr_db"].as_f64() {
            let shown = node["sqnr"].as_f64().unwrap();
            assert!((shown - sqnr).abs() < 1e-3 * sqnr.abs(), "{node}");
            checked += 1;
        }
    }
    assert!(checked > 1, "{checked} nodes were checked");
    let html = std::fs::read_to_string(folder.join("r.html")).unwrap();
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    let inside: Json = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(inside, data, "the page holds what --json writes");
    // The same command gives the same bytes.
    printed(page, &folder);
    assert_eq!(
        std::fs::read_to_string(folder.join("r.html")).unwrap(),
        html
    );
}

#[test]
fn the_chapter_on_training_is_the_log() {
    let folder = Folder::new("report_training");
    trained(&folder);
    printed(
        "report mase_output/float jsc-sim --num-samples 50 --json r.json",
        &folder,
    );
    let data = read(&folder.join("r.json"));
    let log =
        std::fs::read_to_string(folder.join("mase_output/float/software/metrics.csv")).unwrap();
    let heads: Vec<&str> = log.lines().next().unwrap().split(',').collect();
    let at = heads
        .iter()
        .position(|head| *head == "val_loss_epoch")
        .unwrap();
    let cells = log
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(at).unwrap_or(""));
    let losses: Vec<f64> = cells.filter_map(|cell| cell.parse().ok()).collect();
    let shown = &data["training"]["runs"][0]["columns"]["val_loss"];
    let shown: Vec<f64> = shown
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Json::as_f64)
        .collect();
    assert_eq!(shown, losses);
}

#[test]
fn every_entry_is_described_in_the_book() {
    let folder = Folder::new("report_schema");
    trained(&folder);
    printed(
        "report mase_output/rounded jsc-sim --against mase_output/float --num-samples 50 --json r.json",
        &folder,
    );
    let mut keys = BTreeSet::new();
    collect(&read(&folder.join("r.json")), &mut keys);
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report-json.md");
    let book = std::fs::read_to_string(book).unwrap();
    let missing: Vec<&String> = keys
        .iter()
        .filter(|key| !book.contains(&format!("\"{key}\"")))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}

/// The keys of all objects but those whose keys are words.
fn collect(data: &Json, keys: &mut BTreeSet<String>) {
    match data {
        Json::Object(entries) => {
            for (key, value) in entries {
                keys.insert(key.clone());
                if key != "terms" {
                    collect(value, keys);
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}

#[test]
fn hostile_names_stay_texts() {
    let folder = Folder::new("report_hostile");
    let graph = "graph \"</script><img src=x onerror=alert(1)>\" { x: f32[N, 4] = placeholder\n r = relu(x) { target = \"<b>&amp;\" }\n return r }";
    std::fs::write(folder.join("g.mg"), graph).unwrap();
    printed("report g.mg --out g.html --svg g.svg --dark", &folder);
    for file in ["g.html", "g.svg"] {
        let written = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(!written.contains("<img src=x"), "{file}");
        assert!(
            !written.contains("<b>&amp;amp;<") && !written.contains("<b>&"),
            "{file}"
        );
    }
}

#[test]
fn what_cannot_be_shown_is_one_sentence() {
    let folder = Folder::new("report_refused");
    std::fs::create_dir(folder.join("empty")).unwrap();
    for (command, words) in [
        ("report jsc-tinny", "jsc-tiny"),
        ("report empty", "empty"),
        ("report jsc-tiny --against lenet5", "values a row"),
        ("report jsc-tiny nodata", "nodata"),
        ("report jsc-tiny --num-samples 0", "--num-samples"),
        ("report jsc-tiny --dark", "--svg"),
    ] {
        let said = refused(command, &folder);
        assert!(said.contains(words), "{command}: {said}");
        assert!(!folder.join("report.html").exists(), "{command}");
    }
}

#[test]
fn passes_leave_a_page_of_what_they_changed() {
    let folder = Folder::new("report_passes");
    trained(&folder);
    let page = folder.join("mase_output/rounded/software/transform/report.html");
    let html = std::fs::read_to_string(page).unwrap();
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    let data: Json = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let nodes = data["graph"]["nodes"].as_array().unwrap();
    let changed = nodes.iter().filter(|node| node["state"] == "changed");
    assert_eq!(changed.count(), 4);
    assert!(nodes.iter().any(|node| node["sqnr"].is_number()));
}

#[test]
fn a_drawing_alone_is_made_by_show() {
    let folder = Folder::new("report_show");
    let said = printed("show jsc-tiny --svg g.svg", &folder);
    assert!(said.starts_with("g.svg, "), "{said}");
    let drawing = std::fs::read_to_string(folder.join("g.svg")).unwrap();
    assert!(
        drawing.starts_with("<svg") && drawing.contains("seq_blocks_2"),
        "{drawing}"
    );
    let shown: Json = serde_json::from_str(&printed("show jsc-tiny --json", &folder)).unwrap();
    assert_eq!(shown["nodes"][1]["inputs"], serde_json::json!(["x"]));
}
