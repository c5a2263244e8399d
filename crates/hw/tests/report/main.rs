//! `report.md` of a small network, to be read in review, and what `page.html` holds and shows. `UPDATE_GOLDEN=1` writes the reports.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../report/tests/browser/mod.rs"]
mod browser;
mod page;
mod sample;
mod shown;

use hw::report::Record;
use sample::{Folder, add_everything, emission, emit};
use serde_json::json;
use std::fs;
use std::path::Path;

fn compare_golden(folder: &Folder, name: &str) {
    let version = concat!("mase ", env!("CARGO_PKG_VERSION"));
    let written = folder.read("report.md").replace(version, "mase VERSION");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &written).unwrap();
    }
    assert_eq!(written, fs::read_to_string(&path).unwrap(), "{name}");
}

#[test]
fn reports_are_those_that_were_read() {
    let folder = Folder::new("report_golden");
    let emitted = emit(&emission(), &folder);
    compare_golden(&folder, "report_emitted.md");
    add_everything(&emitted);
    compare_golden(&folder, "report_all.md");
}

#[test]
fn a_changed_module_is_named() {
    let folder = Folder::new("report_changed");
    let emitted = emit(&emission(), &folder);
    add_everything(&emitted);
    let net = folder.read("rtl/net.sv") + "\n";
    fs::write(emitted.net(), net).unwrap();
    Record::open(&emitted).unwrap().write(&emitted).unwrap();
    let report = folder.read("report.md");
    assert!(
        report.contains("**rtl/net.sv is not the file that was proved.**"),
        "{report}"
    );
    assert_eq!(
        report.matches("rtl/net.sv has changed since").count(),
        6,
        "{report}"
    );
    let data = folder.data();
    assert_eq!(data["hardware"]["claim"]["changed"], "rtl/net.sv");
    assert_eq!(
        data["sentences"],
        json!(["rtl/net.sv is not the file that certificate.json is about."])
    );
}
