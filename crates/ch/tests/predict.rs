//! `ch predict` writes outputs, predicted classes and labels in the kind of file that its ending names.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod folder;

use commands::Workspace;
use interop::npy::Values;
use serde_json::Value as Json;
use std::fs;

const NET: &str = "graph \"mine\" { x: f32[N, 2] = placeholder l = linear(x) { target = \"l\", in_features = 2, out_features = 3 } return l }";

/// A workspace with a network trained on a table of three named classes.
fn trained(name: &str) -> Workspace {
    let workspace = Workspace::new(name);
    workspace.write("net.mg", NET);
    let classes = ["red", "green", "dark, blue"];
    let row = |i: usize| {
        let (a, b) = ((i * 7) % 13, (i * 5) % 11);
        format!("{a},{b},\"{}\"\n", classes[(a + b) * 3 / 23])
    };
    let table = (0..300).fold("a,b,colour\n".to_owned(), |text, i| text + &row(i));
    workspace.write("a.csv", &table);
    workspace.json("train net.mg a.csv:colour --max-epochs 30 --learning-rate 0.05 --batch-size 16 --project p");
    workspace
}

const LINE: &str = "predict net.mg a.csv:colour --load mase_output/p --split test";

/// The cells of a CSV line, in which only the last two may be quoted.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\"dark, blue\"", "dark; blue");
    let cells = line.split(',').map(|cell| cell.replace(';', ","));
    cells.collect()
}

#[test]
fn all_kinds_of_file_hold_the_same_predictions() {
    let workspace = trained("kinds");
    for ending in ["csv", "npy", "npz", "json"] {
        let result = workspace.json(&format!("{LINE} --out y.{ending}"));
        assert_eq!(
            (&result["width"], &result["out"]),
            (&Json::from(3), &Json::from(format!("y.{ending}")))
        );
    }
    let read = |name: &str| fs::read(workspace.0.join(name)).unwrap();
    let outputs = interop::npy::decode(&read("y.npy")).unwrap();
    let [rows, 3] = outputs.shape[..] else {
        panic!("{:?}", outputs.shape);
    };

    let table = String::from_utf8(read("y.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(
        cells(lines.next().unwrap()),
        ["dark, blue", "green", "red", "predicted", "label"]
    );
    let lines: Vec<Vec<String>> = lines.map(cells).collect();
    assert_eq!(lines.len(), rows);
    let names = ["dark, blue", "green", "red"];
    for (line, row) in lines.iter().zip(outputs.values.chunks(3)) {
        let shown: Vec<f32> = line[..3].iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(shown, row);
        let best = (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        assert_eq!(line[3], names[best]);
    }

    let arrays = interop::npz::parse_arrays(&read("y.npz"), None).unwrap();
    let find = |name: &str| {
        let found = arrays.arrays.iter().find(|(own, _)| own == name);
        &found.unwrap().1
    };
    assert_eq!(find("outputs").values, Values::F32(outputs.values.clone()));
    for (name, column) in [("predicted", 3), ("labels", 4)] {
        let place = |line: &Vec<String>| names.iter().position(|n| *n == line[column]);
        let places = lines.iter().map(|line| place(line).unwrap() as i64);
        assert_eq!(find(name).values, Values::I64(places.collect()), "{name}");
    }

    let content: Json = serde_json::from_slice(&read("y.json")).unwrap();
    assert_eq!(content["classes"], serde_json::json!(names));
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(content["predicted"][i], line[3].as_str());
        assert_eq!(content["labels"][i], line[4].as_str());
        assert_eq!(
            content["outputs"][i][0].to_string().parse::<f32>(),
            line[0].parse()
        );
    }
    let right = lines.iter().filter(|line| line[3] == line[4]).count();
    let score = workspace.json("test net.mg a.csv:colour --load mase_output/p --split test");
    assert_eq!(score["correct"], right);
}

#[test]
fn arrays_without_labels_have_the_classes_of_the_network() {
    let workspace = trained("unlabeled");
    interop::npy::write(&workspace.0.join("x.npy"), &[4, 2], &[0.5; 8]).unwrap();
    workspace.json("predict net.mg x.npy --load mase_output/p --out y.csv");
    let table = fs::read_to_string(workspace.0.join("y.csv")).unwrap();
    assert!(
        table.starts_with("\"dark, blue\",green,red,predicted\n"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 5);
    workspace.json("predict net.mg x.npy --out z.csv");
    let table = fs::read_to_string(workspace.0.join("z.csv")).unwrap();
    assert!(
        table.starts_with("output_0,output_1,output_2,predicted\n"),
        "{table}"
    );
}

/// A wrong file is found before the dataset, which is not there either.
#[test]
fn a_file_that_cannot_be_written_is_found_before_data_are_read() {
    let workspace = Workspace::new("early");
    fs::create_dir(workspace.0.join("folder.csv")).unwrap();
    workspace.write("net.mg", NET);
    for (out, expected) in [
        (
            "y.txt",
            "--out y.txt: the ending names the kind of file, one of .csv, .npy, .npz, .json",
        ),
        ("y", "--out y: the ending names the kind of file"),
        ("none/y.csv", "--out none/y.csv: there is no folder none"),
        ("folder.csv", "--out folder.csv: is a folder"),
    ] {
        let error = workspace.error(&format!("predict net.mg missing.csv:c --out {out}"), 2);
        assert!(error.contains(expected), "{error}");
    }
}

/// Exact integers give the outputs of floats, for the rows that were asked for.
#[test]
fn integers_predict_what_floats_predict() {
    let workspace = trained("integers");
    let ports = "weight: integer(8, 5), bias: affine(8, 0.0625, 3)";
    let rounded = NET
        .replace("linear(x)", "linear(x: integer(8, 3))")
        .replace("out_features = 3", &format!("out_features = 3, {ports}"));
    workspace.write("net.mg", &rounded);
    workspace.json(&format!("{LINE} --out floats.npy"));
    workspace.json(&format!("{LINE} --out integers.npy --integer"));
    let read = |name: &str| fs::read(workspace.0.join(name)).unwrap();
    assert_eq!(read("integers.npy"), read("floats.npy"));
    let outputs = interop::npy::decode(&read("integers.npy")).unwrap();
    let values = outputs.values;
    assert!(
        values.chunks(3).any(|row| row != &values[..3]),
        "all rows are alike"
    );
}
