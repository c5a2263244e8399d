//! Pages that other commands leave, and drawings alone.

use crate::folder::Folder;
use crate::{data_of, entry, printed, reported, trained};
use serde_json::{Value as Json, json};

#[test]
fn passes_leave_a_page_of_what_they_changed() {
    let folder = Folder::new("report_passes");
    trained(&folder);
    let page = folder.join("mase_output/rounded/software/transform/report.html");
    let data = data_of(&page);
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
    assert_eq!(shown["nodes"][1]["inputs"], json!(["x"]));
}

/// A search with three trials.
pub const SEARCH: &str = "model = \"jsc-tiny\"
dataset = \"jsc-sim\"
[search.search_space]
name = \"graph/quantize/mixed_precision_ptq\"
[search.search_space.setup]
by = \"name\"
[search.search_space.seed.default.config]
name = [\"integer\"]
data_in_width = [8]
data_in_frac_width = [\"NA\"]
weight_width = [2, 4, 8]
weight_frac_width = [\"NA\"]
bias_width = [8]
bias_frac_width = [\"NA\"]
[search.strategy]
name = \"optuna\"
[search.strategy.setup]
sampler = \"brute-force\"
n_trials = 3
[search.strategy.sw_runner.basic_evaluation]
data_loader = \"val_dataloader\"
num_samples = 200
[search.strategy.metrics]
accuracy = { direction = \"maximize\" }
average_bitwidth = { direction = \"minimize\" }
";

#[test]
fn a_search_is_a_chapter_of_the_page_that_it_leaves() {
    let folder = Folder::new("report_search");
    trained(&folder);
    std::fs::write(folder.join("s.toml"), SEARCH).unwrap();
    printed(
        "search --config s.toml --load mase_output/float --project searched --quiet",
        &folder,
    );
    let data = data_of(&folder.join("mase_output/searched/software/search_ckpts/report.html"));
    let search = &data["search"];
    assert_eq!(search["numbers"], json!([0, 1, 2]));
    // The best trial's network stands against the one that was searched, on the rows of the search.
    let best = search["best"][0].as_u64().unwrap() as usize;
    assert_eq!(
        entry(&data["facts"], "name", "trial")["after"],
        search["numbers"][best]
    );
    let accuracy = entry(&data["facts"], "name", "accuracy");
    let column = entry(&search["columns"], "name", "accuracy");
    let scored = column["values"][best].as_f64().unwrap();
    assert!(
        crate::is_near(&accuracy["after"], scored),
        "{accuracy} {scored}"
    );
    assert_eq!(data["graph"]["is_diff"], true);
    // The folder of a search is a network too: that of its best trial, with the chapter.
    let again: Json = reported("mase_output/searched jsc-sim --num-samples 20", &folder);
    assert_eq!(again["search"], *search);
    let formats =
        |data: &Json| entry(&data["graph"]["nodes"], "name", "seq_blocks_2")["formats"].to_string();
    assert!(formats(&again).contains("integer"), "{}", formats(&again));
}
