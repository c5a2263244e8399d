//! Networks that are hard to show, and those that cannot be shown.

use crate::browser::{Browser, SKIPPED};
use crate::browser_pictures::{differences, picture};
use crate::folder::Folder;
use crate::{entry, printed, refused, reported};
use std::fmt::Write;

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
    std::fs::write(folder.join("none.mg"), "graph \"none\" { }").unwrap();
    for (command, words) in [
        ("report jsc-tinny", "jsc-tiny"),
        ("report empty", "empty is a folder without a run"),
        ("report none.mg", "no placeholder"),
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
fn small_and_strange_networks_are_pages() {
    let folder = Folder::new("report_strange");
    let long = "n".repeat(300);
    let graphs = [
        ("one", "x: f32[N, 4] = placeholder\n return x".to_owned()),
        (
            "long",
            format!("x: f32[N, 4] = placeholder\n {long} = relu(x)\n return {long}"),
        ),
        (
            "emoji",
            "x: f32[N, 4] = placeholder\n r = relu(x) { target = \"🙂.\\\"q\\\".<i>\" }\n return r"
                .to_owned(),
        ),
    ];
    for (name, body) in graphs {
        let file = format!("{name}.mg");
        std::fs::write(
            folder.join(&file),
            format!("graph \"{name} 🙂 <b>\" {{ {body} }}"),
        )
        .unwrap();
        let data = reported(&file, &folder);
        let nodes = data["graph"]["nodes"].as_array().unwrap().len();
        assert_eq!(nodes, if name == "one" { 2 } else { 3 }, "{name}");
        let boxes = data["graph"]["views"][0]["boxes"].as_array().unwrap();
        assert_eq!(boxes.len(), nodes, "{name}");
        assert!(
            boxes.iter().all(|place| place[3].as_f64() <= Some(300.0)),
            "{name}"
        );
    }
}

#[test]
fn values_that_are_no_numbers_and_zeros_have_profiles() {
    let folder = Folder::new("report_nan");
    // Zero by zero is no number, one by zero is infinite.
    let graph = "graph \"g\" { x: f32[N, 4] = placeholder
        r = relu(x)
        z = sub(r, r)
        d = div(x, z)
        c = linear(d) { target = \"c\", in_features = 4, out_features = 2 }
        e = linear(z) { target = \"e\", in_features = 4, out_features = 2 }
        y = add(c, e)
        return y }";
    std::fs::write(folder.join("g.mg"), graph).unwrap();
    let data = reported("g.mg", &folder);
    let profile = |node: &str| {
        let nodes = data["graph"]["nodes"].as_array().unwrap();
        let place = nodes.iter().position(|own| own["name"] == node);
        let ports = data["ports"].as_array().unwrap().iter();
        let mut ports = ports.filter(|port| port["node"].as_u64() == place.map(|at| at as u64));
        ports.find(|port| port["port"] == "data_in_0").unwrap()
    };
    let (broken, zero) = (profile("c"), profile("e"));
    assert_eq!(broken["count"], 4 * 512);
    assert!(broken["min"].is_number() && broken["histogram"].is_object());
    assert_eq!([&zero["zeros"], &zero["max"]], [1, 0]);
    assert!(zero["logarithmic"].is_null());
}

#[test]
fn networks_with_nothing_in_common_stand_in_one_drawing() {
    let folder = Folder::new("report_nothing");
    let write = |name: &str, body: &str| {
        std::fs::write(folder.join(name), format!("graph \"g\" {{ {body} }}")).unwrap();
    };
    write(
        "a.mg",
        "x: f32[N, 4] = placeholder\n r = relu(x)\n return r",
    );
    write(
        "b.mg",
        "y: f32[N, 4] = placeholder\n s = sigmoid(y)\n t = gelu(s)\n return t",
    );
    let data = reported("a.mg --against b.mg", &folder);
    let nodes = &data["graph"]["nodes"];
    let state = |name: &str| {
        entry(nodes, "name", name)["state"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        [state("r"), state("s"), state("t")],
        ["added", "removed", "removed"]
    );
    assert_eq!(
        data["sentences"][0],
        "0 of 5 nodes changed, 1 added, 2 removed."
    );
}

#[test]
fn a_very_large_network_is_drawn_closed_and_says_so() {
    let folder = Folder::new("report_large");
    let mut text = "graph \"large\" { x: f32[N, 4] = placeholder\n".to_owned();
    let mut last = "x".to_owned();
    for k in 0..19_998 {
        let name = format!("n{k}");
        let target = format!("stage{}.block{}.r{k}", k / 1000, k / 100);
        let _ = writeln!(text, "{name} = relu({last}) {{ target = \"{target}\" }}");
        last = name;
    }
    std::fs::write(folder.join("large.mg"), format!("{text} return {last} }}")).unwrap();
    let data = reported("large.mg --num-samples 1", &folder);
    let said = data["graph"]["limited"].as_str().unwrap();
    assert!(said.starts_with("20000 nodes are too many"), "{said}");
    let views = data["graph"]["views"].as_array().unwrap();
    let boxes: Vec<usize> = views
        .iter()
        .map(|view| view["boxes"].as_array().unwrap().len())
        .collect();
    assert_eq!(boxes, [22], "twenty stages, the input and the result");
}

#[test]
fn a_run_that_was_stopped_is_a_page() {
    let folder = Folder::new("report_stopped");
    printed(
        "train jsc-tiny jsc-sim --max-epochs 5 --max-steps 900 --project stopped --quiet",
        &folder,
    );
    let data = reported("mase_output/stopped jsc-sim --num-samples 20", &folder);
    let epochs = data["training"]["runs"][0]["columns"]["epoch"]
        .as_array()
        .unwrap();
    assert!((1..5).contains(&epochs.len()), "{epochs:?}");
    // A log that ends in the midst of a line is what a killed run leaves.
    let log = folder.join("mase_output/stopped/software/metrics.csv");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, &text[..text.len() - 9]).unwrap();
    let output = crate::ch(
        &crate::words("report mase_output/stopped --out cut.html"),
        &folder,
    );
    assert!(
        output.code == Some(0) || output.stderr.contains("metrics.csv"),
        "{}",
        output.stderr
    );
}

#[test]
fn without_javascript_a_browser_shows_summary_drawing_and_tables() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let folder = Folder::new("report_plain");
    reported("jsc-tiny", &folder);
    let page = std::fs::read_to_string(folder.join("r.html")).unwrap();
    // In a frame that may not run scripts; those of the page are taken out, so that the browser has none to complain of.
    let (head, rest) = page.split_once("<script").unwrap();
    let (_, foot) = rest.rsplit_once("</script>").unwrap();
    let page = format!("{head}{foot}");
    let frame = "<iframe sandbox src=\"inner.html\" width=\"780\" height=\"880\"></iframe>";
    let shown = |page: &str| {
        let flags = "--window-size=800,900";
        picture(
            &browser,
            frame,
            "",
            flags,
            &[("inner.html", page.as_bytes())],
        )
    };
    // A busy machine may take the picture before the frame is painted; what is never painted is missing each time.
    let is_shown = || {
        let (plain, bare) = (shown(&page), shown(&page.replace("noscript", "template")));
        let seen = differences(&browser, &[[plain.clone(), bare], [plain.clone(), plain]]);
        assert_eq!(seen[1].mean, 0.0);
        seen[0].mean > 3.0 && seen[0].far > 0.01
    };
    assert!(
        (0..6).any(|_| is_shown()),
        "no picture shows what stands for scripts"
    );
}
