//! Options that put more into the page: times, weights, further runs.

use crate::folder::Folder;
use crate::{entry, printed, refused, reported, trained};
use serde_json::Value as Json;

#[test]
fn times_are_shares_and_only_there_when_asked_for() {
    let folder = Folder::new("report_time");
    let times = |arguments: &str| -> Vec<f64> {
        let data = reported(arguments, &folder);
        let nodes = data["graph"]["nodes"].as_array().unwrap().iter();
        nodes.filter_map(|node| node["time"].as_f64()).collect()
    };
    assert!(times("jsc-toy").is_empty());
    let shares = times("jsc-toy --time");
    assert!(
        shares.iter().all(|share| (0.0..=1.0).contains(share)),
        "{shares:?}"
    );
    assert!(
        (shares.iter().sum::<f64>() - 1.0).abs() < 1e-2,
        "{shares:?}"
    );
}

#[test]
fn weights_are_in_the_page_when_asked_for_and_never_many() {
    let folder = Folder::new("report_weights");
    let ports = |arguments: &str| reported(arguments, &folder)["ports"].take();
    let none = ports("lenet5 --num-samples 2");
    assert!(
        none.as_array()
            .unwrap()
            .iter()
            .all(|port| port["values"].is_null())
    );
    let with = ports("lenet5 --num-samples 2 --with-weights");
    for port in with.as_array().unwrap() {
        let values = port["values"].as_array().map(Vec::len);
        let count = port["count"].as_u64().unwrap() as usize;
        let is_data = port["port"].as_str().unwrap().starts_with("data_");
        assert_eq!(
            values,
            (!is_data).then_some(count.min(10_000)),
            "{}",
            port["port"]
        );
        if let Some(values) = port["values"]
            .as_array()
            .filter(|values| values.len() == count)
        {
            let max = values
                .iter()
                .filter_map(Json::as_f64)
                .fold(f64::MIN, f64::max);
            assert_eq!(Some(max), port["max"].as_f64());
        }
    }
}

#[test]
fn several_runs_stand_in_one_chapter() {
    let folder = Folder::new("report_runs");
    trained(&folder);
    printed(
        "train jsc-tiny jsc-sim --max-epochs 1 --project second --quiet",
        &folder,
    );
    let names = |arguments: &str| -> Vec<String> {
        let data = reported(arguments, &folder);
        let runs = data["training"]["runs"].as_array().unwrap().iter();
        runs.map(|run| run["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let own = "mase_output/float --num-samples 20";
    assert_eq!(names(own), ["float"]);
    assert_eq!(
        names(&format!("{own} --runs mase_output/second")),
        ["float", "second"]
    );
    // The network before the change brings its training with it.
    assert_eq!(
        names("mase_output/rounded --against mase_output/float --num-samples 20"),
        ["float"]
    );
    let said = refused("report jsc-tiny --runs mase_output/rounded", &folder);
    assert!(
        said.contains("mase_output/rounded") && said.contains("metrics.csv"),
        "{said}"
    );
    let data = reported(own, &folder);
    assert_eq!(entry(&data["facts"], "name", "seed")["after"], 0);
}
