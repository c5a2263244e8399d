//! Numbers of the page beside those of `ch compare`, the counting passes, `profile_statistics` and `metrics.csv`.

use crate::browser::{Browser, SKIPPED, part};
use crate::folder::Folder;
use crate::schema::Schema;
use crate::{data_of, entry, is_near, printed, read, reported, trained};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const ANALYSES: &str = "[passes.profile_statistics]
by = \"type\"
target_weight_nodes = [\"linear\", \"batch_norm1d\"]
target_activation_nodes = [\"linear\", \"batch_norm1d\", \"relu\"]
num_samples = 200
split = \"test\"
[passes.profile_statistics.weight_statistics]
range_min_max = { dims = \"all\", abs = false }
variance_precise = { dims = \"all\" }
[passes.profile_statistics.activation_statistics]
range_min_max = { dims = \"all\", abs = false }
variance_precise = { dims = \"all\" }
[passes.count_bitops]
batch_size = 1
[passes.count_flops]
batch_size = 1
";

const DIFF: &str = "mase_output/rounded jsc-sim --against mase_output/float --num-samples 200";

fn compared(folder: &Path) -> Vec<Json> {
    let command = "compare mase_output/float mase_output/rounded jsc-sim --num-samples 200 --json";
    let compare: Json = serde_json::from_str(&printed(command, folder)).unwrap();
    let facts = compare["facts"]["node_errors"].as_array();
    let errors = facts.or(compare["node_errors"].as_array()).unwrap();
    errors.clone()
}

#[test]
fn errors_are_those_of_compare_and_bytes_are_the_same_again() {
    let folder = Folder::new("report_numbers");
    trained(&folder);
    let data = reported(&format!("{DIFF} --json r.json"), &folder);
    assert_eq!(
        data,
        read(&folder.join("r.json")),
        "the page holds what --json writes"
    );
    let mut checked = 0;
    for error in compared(&folder) {
        let node = entry(
            &data["graph"]["nodes"],
            "name",
            error["node"].as_str().unwrap(),
        );
        for (name, from) in [("sqnr", "sqnr_db"), ("error", "largest_error")] {
            if let Some(exact) = error[from].as_f64() {
                assert!(is_near(&node[name], exact), "{node}: {name} {exact}");
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "{checked} numbers were checked");
    let bytes = || std::fs::read(folder.join("r.html")).unwrap();
    let first = bytes();
    reported(DIFF, &folder);
    assert_eq!(first, bytes());
}

#[test]
fn costs_and_profiles_are_those_of_the_passes() {
    let folder = Folder::new("report_costs");
    trained(&folder);
    std::fs::write(folder.join("a.toml"), ANALYSES).unwrap();
    let command =
        "transform jsc-tiny jsc-sim --config a.toml --load mase_output/rounded --json --dry-run";
    let passes: Json = serde_json::from_str(&printed(command, &folder)).unwrap();
    let report = |key: &str| &entry(&passes["passes"], "key", key)["report"];
    let data = reported("mase_output/rounded jsc-sim --num-samples 200", &folder);
    let nodes = &data["graph"]["nodes"];
    let mut sums = BTreeMap::new();
    for node in nodes.as_array().unwrap() {
        let row = |key: &str, table: &str| {
            entry(
                &report(key)[table],
                "Node name",
                node["name"].as_str().unwrap(),
            )
            .clone()
        };
        let (bits, flops) = (row("count_bitops", "bitops"), row("count_flops", "flops"));
        for (name, counted) in [
            ("bitops", &bits["BitOPs"]),
            ("macs", &flops["MACs"]),
            ("parameters", &flops["Parameters"]),
            ("bytes", &flops["Weight bytes"]),
        ] {
            assert_eq!(node[name], *counted, "{name} of {node}");
            *sums.entry(name).or_insert(0) += counted.as_u64().unwrap();
        }
    }
    for (fact, name) in [
        ("BitOPs", "bitops"),
        ("MACs", "macs"),
        ("bytes", "bytes"),
        ("parameters", "parameters"),
    ] {
        assert_eq!(
            entry(&data["facts"], "name", fact)["after"],
            json!(sums[name]),
            "{fact}"
        );
    }
    check_profiles(&data, &report("profile_statistics")["statistics"]);
}

fn check_profiles(data: &Json, statistics: &Json) {
    let rows = statistics.as_array().unwrap();
    let fields = [
        ("min", "min"),
        ("max", "max"),
        ("mean", "mean"),
        ("variance", "deviation"),
        ("count", "count"),
    ];
    let mut checked = BTreeSet::new();
    for row in rows {
        let Some((_, name)) = fields.iter().find(|(field, _)| row["Field"] == *field) else {
            continue;
        };
        let nodes = data["graph"]["nodes"].as_array().unwrap();
        let place = nodes
            .iter()
            .position(|node| node["name"] == row["Node name"])
            .unwrap();
        let ports = data["ports"].as_array().unwrap().iter();
        let mut ports =
            ports.filter(|port| port["node"] == json!(place) && port["port"] == row["Port"]);
        let port = ports
            .next()
            .unwrap_or_else(|| panic!("no profile of {row}"));
        let value = row["Value"].as_f64().unwrap();
        let value = if *name == "deviation" {
            value.sqrt()
        } else {
            value
        };
        let shown = port[*name].as_f64().unwrap();
        // Both are written with few digits.
        assert!(
            (shown - value).abs() <= 6e-4 * value.abs() + 1e-6,
            "{row}: {shown}"
        );
        checked.insert((place, row["Port"].to_string(), *name));
    }
    assert_eq!(
        checked.len(),
        5 * data["ports"].as_array().unwrap().len(),
        "every port was checked"
    );
}

#[test]
fn the_chapter_on_training_is_the_log() {
    let folder = Folder::new("report_training");
    trained(&folder);
    let data = reported("mase_output/float jsc-sim --num-samples 50", &folder);
    let path = folder.join("mase_output/float/software/metrics.csv");
    let log = std::fs::read_to_string(path).unwrap();
    let mut lines = log.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let at = |head: &str| heads.iter().position(|own| *own == head).unwrap();
    let epochs: Vec<Vec<&str>> = lines
        .filter(|line| !line[at("val_loss_epoch")].is_empty())
        .collect();
    let run = &data["training"]["runs"][0];
    assert_eq!(run["name"], "float");
    for (name, head) in [
        ("epoch", "epoch"),
        ("train_loss", "train_loss"),
        ("train_accuracy", "train_acc"),
        ("val_loss", "val_loss_epoch"),
        ("val_accuracy", "val_acc_epoch"),
        ("learning_rate", "learning_rate"),
    ] {
        let shown = run["columns"][name].as_array().unwrap();
        let shown: Vec<f64> = shown.iter().map(|value| value.as_f64().unwrap()).collect();
        let logged: Vec<f64> = epochs
            .iter()
            .map(|line| line[at(head)].parse().unwrap())
            .collect();
        assert_eq!(shown, logged, "{name}");
        assert_eq!(shown.len(), 2);
    }
}

/// The rows of a table in a document: their cells by the heads of the columns.
fn rows_of(dom: &str, id: &str) -> Vec<BTreeMap<String, String>> {
    let table = part(dom, &format!("id=\"{id}\""), "</table>");
    let texts = |row: &str, tag: &str| -> Vec<String> {
        let cells = row.split(tag).skip(1).map(|cell| {
            let inner = cell.split_once('>').map_or("", |(_, inner)| inner);
            let inner = inner.split("</t").next().unwrap();
            let parts = inner
                .split('<')
                .map(|tag| tag.rsplit_once('>').map_or(tag, |(_, text)| text));
            parts.collect::<String>()
        });
        cells.collect()
    };
    let (head, body) = table.split_once("</thead>").unwrap();
    let heads = texts(head, "<th ");
    let rows = body.split("<tr").skip(1);
    rows.map(|row| {
        let row = row.replace("<td ", "<th ").replace("<td>", "<th >");
        heads.iter().cloned().zip(texts(&row, "<th ")).collect()
    })
    .collect()
}

#[test]
fn a_browser_shows_the_numbers_of_compare() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let folder = Folder::new("report_shown");
    trained(&folder);
    reported(DIFF, &folder);
    let page = std::fs::read_to_string(folder.join("r.html")).unwrap();
    let dom = browser.shown(&page, "#node=seq_blocks_2");
    let rows = rows_of(&dom, "nodeTable");
    let mut checked = 0;
    for error in compared(&folder) {
        let row = rows.iter().find(|row| error["node"] == row["name"]);
        let Some((row, exact)) = row.zip(error["sqnr_db"].as_f64()) else {
            continue;
        };
        let shown: Json = row["sqnr"].parse().unwrap();
        assert!(is_near(&shown, exact), "{row:?}: {exact}");
        checked += 1;
    }
    assert!(checked >= 4, "{checked} rows were checked: {rows:?}");
    let facts = rows_of(&dom, "facts");
    let data = data_of(&folder.join("r.html"));
    for fact in data["facts"].as_array().unwrap() {
        let row = facts.iter().find(|row| fact["name"] == row[""]).unwrap();
        let plain = |text: &str| text.replace(',', "");
        let expected = fact["after"]
            .as_str()
            .map_or(fact["after"].to_string(), str::to_owned);
        assert_eq!(plain(&row["after"]), expected, "{fact}");
    }
}

#[test]
fn every_entry_is_described() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let schema = Schema(read(&book.join("report-json.schema.json")));
    assert_eq!(schema.undescribed(), [""; 0]);
    let mut keys = BTreeSet::new();
    collect(&schema.0, &mut keys);
    assert!(keys.len() > 80);
    let page = std::fs::read_to_string(book.join("report-json.md")).unwrap();
    let missing: Vec<&String> = keys
        .iter()
        .filter(|key| !page.contains(&format!("\"{key}\"")))
        .collect();
    assert_eq!(missing, Vec::<&String>::new(), "docs/report-json.md");
    // The check itself notices what is wrong.
    let wrong = json!({ "version": 2, "title": 3, "other": [] });
    let problems = schema.problems(&wrong);
    for part in [
        "/version: 2 is none of",
        "/title: 3 is no",
        "/other: the schema",
        "\"graph\" is missing",
    ] {
        assert!(
            problems.iter().any(|problem| problem.contains(part)),
            "{part}: {problems:?}"
        );
    }
}

/// The keys that a schema has.
fn collect(schema: &Json, keys: &mut BTreeSet<String>) {
    match schema {
        Json::Object(rules) => {
            for (key, rule) in rules {
                if key == "properties" {
                    keys.extend(rule.as_object().unwrap().keys().cloned());
                }
                collect(rule, keys);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}
