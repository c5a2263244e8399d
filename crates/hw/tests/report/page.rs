//! What the page holds: the facts as they are, names as texts, and nothing of files that are no facts.

use crate::browser::part;
use crate::sample::{Folder, add_everything, emission, emit, rung};
use hw::folder::Emitted;
use hw::report::Record;
use serde_json::{Value as Json, json};
use std::fs;

#[test]
fn the_page_holds_the_facts_and_loads_nothing() {
    let folder = Folder::new("report_page");
    let emission = emission();
    let emitted = emit(&emission, &folder);
    add_everything(&emitted);
    let page = folder.read("page.html");
    for outside in ["src=", "href=\"http", "@import", "url(", "https:"] {
        assert!(!page.contains(outside), "the page has {outside}");
    }
    let addresses = page.matches("http").count();
    assert_eq!(
        addresses,
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count()
    );
    let data = folder.data();
    let facts: Json = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(data["hardware"]["report"], facts);
    let (adders, _) = emission.net.adders();
    let sum = |list: &str| -> u64 {
        let all = facts[list].as_array().unwrap().iter();
        all.map(|own| own["adders"].as_u64().unwrap()).sum()
    };
    assert_eq!([sum("layers"), sum("stages")], [adders as u64; 2]);
    assert_eq!(
        data["hardware"]["floor"]["tiles"].as_array().unwrap().len(),
        4 * 12
    );
    assert_eq!(
        data["hardware"]["wave"]["lines"][0]["codes"][0],
        json!([0, 5])
    );
    let plain = part(&page, "<noscript>", "</noscript>");
    assert!(
        plain.contains("<td>fc1</td>") && plain.contains("proved for all 2^16 inputs"),
        "{plain}"
    );
    // The same facts give the same bytes.
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    assert_eq!(folder.read("page.html"), page);
}

/// A name that would be an element, the end of the data, a cell of a table and a command.
pub const HOSTILE: &str = "</script><img src=x onerror=alert(1)>|`*_a_*`&amp;\u{1b}[2J";

/// Puts the hostile name in place of a layer's.
pub fn make_hostile(emitted: &Emitted) {
    for (file, from) in [("report.json", "fc1"), ("net.json", "fc1")] {
        let path = emitted.path.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let name = json!(HOSTILE).to_string();
        fs::write(&path, text.replace(&format!("\"{from}\""), &name)).unwrap();
    }
    let mut record = Record::open(emitted).unwrap();
    let reason = json!({ "reason": HOSTILE });
    record.add_rung(&rung(emitted, "prove", HOSTILE, HOSTILE, false, reason));
    record.write(emitted).unwrap();
}

#[test]
fn hostile_names_stay_texts() {
    let folder = Folder::new("report_hostile");
    let emitted = emit(&emission(), &folder);
    make_hostile(&emitted);
    let page = folder.read("page.html");
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img"), "a name became an element");
    assert_eq!(folder.data()["hardware"]["net"]["nodes"][0], HOSTILE);
    let report = folder.read("report.md");
    assert!(
        !report.contains("<img") && !report.contains('\u{1b}'),
        "{report}"
    );
    assert!(
        report
            .contains("&lt;/script>&lt;img src=x onerror=alert(1)>\\|\\`\\*\\_a\\_\\*\\`&amp;amp;"),
        "{report}"
    );
}

#[test]
fn files_that_are_no_facts_are_one_sentence_or_left_out() {
    let folder = Folder::new("report_broken");
    let emitted = emit(&emission(), &folder);
    for file in [
        "net.json",
        "floor.svg",
        "tb/first_rows.vcd",
        "certificate.json",
    ] {
        emitted.write(file, "{ <not> $enddefinitions").unwrap();
    }
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    let data = folder.data();
    for entry in ["net", "floor", "wave", "claim"] {
        assert!(data["hardware"][entry].is_null(), "{entry}");
    }
    emitted.write("report.json", "[1]").unwrap();
    let error = Record::open(&emitted).unwrap_err().to_string();
    assert!(
        error.contains("report.json: ")
            && error.ends_with("remove it, or `ch emit` writes it anew"),
        "{error}"
    );
    fs::remove_file(emitted.path.join("report.json")).unwrap();
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    assert!(
        folder
            .read("report.md")
            .contains("This folder has no facts of `ch emit`.")
    );
}
