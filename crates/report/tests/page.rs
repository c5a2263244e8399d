//! The page of a report: it holds its data, and a browser shows it without loading anything.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod browser;
mod page_data;

use browser::{Browser, SKIPPED, part};
use page_data::{grid, sample};
use report::page::{self, box_size, page, svg};
use serde_json::{Value as Json, json};

/// Bytes of what every page has, at most.
const MAX_FIXED: usize = 60_000;

fn whole(data: &Json) -> String {
    page(data, "A & B", &[])
}

#[test]
fn the_fixed_part_is_small() {
    let bytes = page(&json!({}), "", &[]).len();
    println!("the page without data has {bytes} bytes");
    assert!(bytes <= MAX_FIXED, "{bytes} bytes");
}

#[test]
fn the_page_holds_the_data_and_loads_nothing() {
    let data = sample();
    let page = whole(&data);
    let held = part(&page, "id=\"data\">", "</script>");
    assert_eq!(serde_json::from_str::<Json>(held).unwrap(), data);
    let fixed = page::page(&json!({}), "", &[]);
    for outside in ["src=", "href=\"http", "@import", "url("] {
        assert!(!fixed.contains(outside), "the page has {outside}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img"), "a name became an element");
}

#[test]
fn without_javascript_the_page_shows_a_drawing_and_a_table() {
    let data = sample();
    let page = whole(&data);
    let plain = part(&page, "<noscript>", "</noscript>");
    assert!(plain.contains("<svg xmlns"), "{plain}");
    let rows = plain.split_once("<th>node</th>").unwrap().1;
    for node in data["graph"]["nodes"].as_array().unwrap() {
        let cell = |value: &Json| match value {
            Json::Null => String::new(),
            Json::String(text) => text.replace('<', "&lt;").replace('>', "&gt;"),
            other => other.to_string(),
        };
        let shape = cell(&node["shape"]);
        let end = format!(
            "<td>{}</td><td>{}</td></tr>",
            cell(&node["bits"]),
            cell(&node["sqnr"])
        );
        let name: String = cell(&node["name"]).chars().take(60).collect();
        let row = rows.lines().find(|line| line.contains(&format!(">{name}")));
        let row = row.unwrap_or_else(|| panic!("no row of {name}"));
        assert!(row.contains(&shape) && row.ends_with(&end), "{row}");
    }
    assert!(plain.contains("weight float32 → integer(8, 4)"), "{plain}");
    assert!(plain.contains("accuracy fell by 1 %"), "{plain}");
}

#[test]
fn the_drawing_shows_states_and_kinds() {
    let data = sample();
    let graph = &data["graph"];
    let [light, dark] = [false, true].map(|dark| svg(graph, dark));
    let nodes = graph["nodes"].as_array().unwrap();
    let of_state = |state: &str| nodes.iter().filter(|node| node["state"] == state).count();
    let count = |mark: &str| light.matches(mark).count();
    assert_eq!(count("<g transform"), nodes.len());
    assert_eq!(count("stroke-dasharray=\"5 3\""), of_state("removed"));
    assert_eq!(
        count("stroke=\"#c94f00\" stroke-width=\"2\""),
        of_state("changed")
    );
    assert_eq!(
        count("stroke=\"#00786a\" stroke-width=\"2.4\""),
        of_state("added")
    );
    assert_eq!(
        count("<path d=\"M"),
        graph["views"][0]["edges"].as_array().unwrap().len() + 2
    );
    assert!(!light.contains("<img") && !light.contains("</script"));
    assert_eq!(light.matches('<').count(), dark.matches('<').count());
    assert_ne!(light, dark);
    assert_eq!(svg(&Json::Null, false).matches("<g").count(), 1);
}

#[test]
fn a_box_has_room_for_its_texts() {
    let short = json!({ "name": "fc", "op": "linear", "shape": "8×5" });
    let mut long = short.clone();
    long["formats"] = json!([{ "port": "weight", "format": "minifloat_ieee(8, 4, 7)" }]);
    assert!(box_size(&long).0 > box_size(&short).0);
    assert!(box_size(&long).1 > box_size(&short).1);
    long["name"] = json!("n".repeat(300));
    assert!(box_size(&long).0 <= 300.0);
}

/// Uses the page as a reader would and writes what it shows into the document.
const DRIVER: &str = include_str!("page_driver.js");

/// The findings of a browser in a page, by the name of the check.
fn driven(browser: &Browser, data: &Json, driver: &str, address: &str) -> Json {
    let page = format!("{}<script>{driver}</script>", whole(data));
    let dom = browser.shown(&page, address);
    let found = part(&dom, "<pre id=\"found\">", "</pre>");
    let found = found
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&found).unwrap()
}

#[test]
fn a_browser_shows_the_network() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let data = sample();
    let found = driven(&browser, &data, DRIVER, "#node=fc%2Fb");
    assert_eq!(found["errors"], json!([]));
    assert_eq!(
        found["requests"],
        json!([]),
        "nothing but the page is asked for"
    );
    assert_eq!(found["at_start"], "fc/b", "the address names a node");
    check_nodes(&found, data["graph"]["nodes"].as_array().unwrap());
    check_views(&found, &data);
    check_numbers(&found, &data);
    let picture = &found["picture"];
    let nodes = data["graph"]["nodes"].as_array().unwrap();
    let names: Vec<&Json> = nodes.iter().map(|node| &node["name"]).collect();
    assert_eq!(picture["names"], json!(names));
    assert_eq!([&picture["dashed"], &picture["without_color"]], [1, 0]);
    let files = [
        "graph.svg",
        "graph.csv",
        "changes.csv",
        "profiles.svg",
        "loss.svg",
        "loss.csv",
    ];
    assert_eq!(found["files"], json!(files));
    assert_eq!(found["csv_quotes"], true);
}

/// Finding, walking and sorting reach the nodes that the data says.
fn check_nodes(found: &Json, nodes: &[Json]) {
    let names = |is_meant: &dyn Fn(&Json) -> bool| -> Vec<&Json> {
        let meant = nodes.iter().filter(|node| is_meant(node));
        meant.map(|node| &node["name"]).collect()
    };
    let sqnr = |node: &Json| node["sqnr"].as_f64();
    let under = |limit: f64| names(&|node| sqnr(node).is_some_and(|own| own < limit));
    assert_eq!(found["by_sqnr"], json!(under(20.0)));
    let has_format = |node: &Json| node["formats"].to_string().contains("integer(8, 4)");
    assert_eq!(found["by_format"], json!(names(&has_format)));
    assert_eq!(found["by_op"], json!(names(&|node| node["op"] == "linear")));
    let name = |k: usize| &nodes[k]["name"];
    assert_eq!(found["tabbed"], json!([name(0), name(1), name(0)]));
    let changes = names(&|node| node["state"] != "same");
    assert_eq!(found["next_changes"], json!(changes));
    let mut known: Vec<&Json> = nodes.iter().filter(|node| sqnr(node).is_some()).collect();
    known.sort_by(|a, b| sqnr(b).partial_cmp(&sqnr(a)).unwrap());
    let known: Vec<&Json> = known.iter().map(|node| &node["name"]).collect();
    let sorted: Vec<&Json> = found["sorted"].as_array().unwrap().iter().collect();
    assert_eq!(sorted.len(), nodes.len());
    assert_eq!(sorted[0], "x", "infinite is the largest");
    assert_eq!(sorted[1..=known.len()], known);
    assert_eq!(found["under"], under(15.0).len());
}

/// Names are texts, themes differ, and a closed group opens.
fn check_views(found: &Json, data: &Json) {
    assert_eq!(found["address_of_hostile"], "<img src=x onerror=alert(1)>");
    assert_eq!(found["hostile_elements"], 0);
    assert_ne!(found["light"], found["dark"]);
    let closed = data["graph"]["views"][1]["boxes"].as_array().unwrap();
    assert_eq!(found["closed_boxes"], closed.len());
    assert_eq!(found["opened"], "block_fc", "the first node of the group");
    let sections = ["graph", "nodes", "profiles", "training"];
    assert_eq!(found["sections"], json!(sections));
}

/// Numbers are shown as the data has them.
fn check_numbers(found: &Json, data: &Json) {
    let panel = ["1,280", "20,480 → 5,120", "12.5 dB", "0.25"];
    assert_eq!(found["panel"], json!(panel));
    assert_eq!(
        found["facts"],
        json!(["accuracy", "0.75", "0.74", "−1.3 %"])
    );
    assert_eq!(found["rows_of_epochs"], 6);
    // Of both runs: loss and accuracy of training and validation, and the learning rate.
    assert_eq!(found["curves"], 10);
    assert_eq!(found["ports"], data["ports"].as_array().unwrap().len());
    assert_eq!(
        found["port_facts"],
        json!(["float32", "integer(8, 4)", "0.5 %"])
    );
}

#[test]
fn sections_without_data_are_not_shown() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let driver = "document.body.append(html('pre', { id: 'found' }, JSON.stringify([...document.querySelectorAll('section')].filter(one => !one.hidden).map(one => one.id))));";
    assert_eq!(driven(&browser, &json!({}), driver, ""), json!([]));
    let training = json!({ "training": sample()["training"] });
    assert_eq!(driven(&browser, &training, driver, ""), json!(["training"]));
    let facts =
        json!({ "facts": [{ "name": "rows", "before": null, "after": 5, "about": "rows" }] });
    assert_eq!(driven(&browser, &facts, driver, ""), json!([]));
    let graph = json!({ "graph": grid(4)["graph"] });
    assert_eq!(
        driven(&browser, &graph, driver, ""),
        json!(["graph", "nodes"])
    );
}

/// Times are printed, not held against limits: they depend on the machine.
#[test]
fn a_large_graph_is_drawn() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    for count in [1000, 5000] {
        let found = driven(&browser, &grid(count), include_str!("page_times.js"), "");
        println!("{count} nodes: {found} (milliseconds)");
        assert_eq!(found["hits"], count / 4);
    }
}
