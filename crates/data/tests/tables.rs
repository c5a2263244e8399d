//! Users' own tables: read, split, standardised; and what is said of bad ones.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{OpenOptions, Scaling, Standardize, Standardizer, open};
use std::path::PathBuf;

/// A file in a folder of this test's own.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tables");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn csv(rows: usize) -> String {
    let mut text = "x,kind,\"y, scaled\"\n".to_owned();
    for row in 0..rows {
        let kind = ["dog", "cat", "bird"][row % 3];
        let (x, y) = (row as f32 * 0.5, 1e3 - (row * row) as f32);
        text += &[x.to_string(), kind.to_owned(), y.to_string()].join(",");
        text += "
";
    }
    text
}

#[test]
fn a_csv_file_is_split_and_standardised() {
    let path = file("good.csv", csv(100).as_bytes());
    let set = open(&format!("{}:kind", path.display()), &OpenOptions::default()).unwrap();
    assert_eq!(set.info.classes, ["bird", "cat", "dog"]);
    assert_eq!(set.info.features, ["x", "y, scaled"]);
    assert_eq!(set.train.labels()[..3], [2, 1, 0]);
    assert_eq!(
        [set.train.len(), set.val.len(), set.test.len()],
        [72, 8, 20]
    );
    for feature in 0..2 {
        let training = set.train.indices().iter().chain(set.val.indices());
        let column: Vec<f64> = training
            .map(|&row| f64::from(set.train.rows()[row as usize * 2 + feature]))
            .collect();
        let mean = column.iter().sum::<f64>() / 80.0;
        let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 80.0;
        assert!(mean.abs() < 1e-6, "{mean}");
        assert!((variance - 1.0).abs() < 1e-6, "{variance}");
    }
}

/// x is half the number of the row: (x − 1)/2, in steps of a quarter from -1/2 on.
#[test]
fn a_table_is_standardised_as_the_network_asks() {
    let path = file("given.csv", csv(20).as_bytes());
    let open_by = |mean: Vec<f64>, deviation: Vec<f64>| {
        let standardizer = Standardizer { mean, deviation };
        let options = OpenOptions {
            standardize: Standardize::By(standardizer.clone()),
            ..OpenOptions::default()
        };
        let opened = open(&format!("{}:kind", path.display()), &options);
        opened.map(|set| (set, standardizer))
    };
    let (set, standardizer) = open_by(vec![1.0, 1000.0], vec![2.0, 1.0]).unwrap();
    let x: Vec<f32> = set.train.rows().chunks(2).map(|row| row[0]).collect();
    assert_eq!(x[..4], [-0.5, -0.25, 0.0, 0.25]);
    assert_eq!(set.info.scaling, Scaling::Given(standardizer));
    let problem = open_by(vec![1.0], vec![2.0]).unwrap_err().to_string();
    assert!(
        problem.contains("has 2 features a row, but the network was trained on 1"),
        "{problem}"
    );
}

#[test]
fn bad_tables_are_named_with_their_place() {
    let good = csv(20);
    let cases: [(&str, String, &str, &str); 13] = [
        (
            "nan.csv",
            good.replace("\n1.5,", "\nNaN,"),
            "kind",
            "row 4, column 'x': 'NaN' is not a finite float32",
        ),
        (
            "inf.csv",
            good.replace("\n1.5,", "\n1e99,"),
            "kind",
            "row 4, column 'x': '1e99' is not a finite float32",
        ),
        (
            "text.csv",
            good.replace("\n1.5,", "\nlow,"),
            "kind",
            "row 4, column 'x': 'low' is not a number",
        ),
        (
            "empty_label.csv",
            good.replace("1.5,dog", "1.5,"),
            "kind",
            "row 4, column 'kind': the label is empty",
        ),
        (
            "ragged.csv",
            good.replace("\n1.5,dog", "\n1.5"),
            "kind",
            "row 4",
        ),
        (
            "long.csv",
            good.replace("\n1.5,dog", "\n1.5,dog,3"),
            "kind",
            "row 4 has 4 cells; the table has 3 columns",
        ),
        (
            "column.csv",
            good.clone(),
            "kid",
            "has no column 'kid'; it has x, kind, y, scaled; did you mean 'kind'?",
        ),
        (
            "regression.csv",
            good.replace("dog", "1")
                .replace("cat", "2")
                .replace("bird", "3"),
            "x",
            "column 'x' has 20 different decimals in 20 rows: it is a regression target",
        ),
        (
            "decimal_comma.csv",
            good.replace("\n1.5,", "\n\"1,5\","),
            "kind",
            "row 4, column 'x': '1,5' is not a number; decimals are written with a point",
        ),
        (
            "quote.csv",
            good.replace("\n1.5,", "\n\"1.5,"),
            "kind",
            "line 5: a quoted cell has no end",
        ),
        (
            "one.csv",
            good.replace("dog", "cat").replace("bird", "cat"),
            "kind",
            "column 'kind' has one class only, 'cat'",
        ),
        (
            "short.csv",
            csv(5),
            "kind",
            "has 5 rows; at least 10 are needed",
        ),
        ("none.csv", String::new(), "kind", "has no rows"),
    ];
    for (name, text, label, expected) in cases {
        let path = file(name, text.as_bytes());
        let error = open(
            &format!("{}:{label}", path.display()),
            &OpenOptions::default(),
        )
        .unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expected), "{name}: {message}");
        assert!(
            message.starts_with(&path.display().to_string()),
            "{name}: {message}"
        );
    }
}

/// The same table with each separator, under each ending.
#[test]
fn semicolons_and_tabs_separate_cells_too() {
    let whole = open_table("commas.csv", &csv(40), "kind");
    let cells = csv(40).replace("\"y, scaled\"", "Y").replace(',', "\x00");
    for (name, separator, header) in [
        ("semicolons.csv", ";", "y, scaled"),
        ("tabs.csv", "\t", "y, scaled"),
        ("tabs.tsv", "\t", "y, scaled"),
        ("tabs.txt", "\t", "y, scaled"),
        ("semicolons.txt", ";", "y, scaled"),
        ("commas.txt", ",", "\"y, scaled\""),
        ("quoted.tsv", ";", "\"y, scaled\""),
    ] {
        let text = cells.replace('\x00', separator).replace('Y', header);
        let set = open_table(name, &text, "kind");
        assert_eq!(set.info.features, whole.info.features, "{name}");
        assert_eq!(set.info.classes, whole.info.classes, "{name}");
        assert_eq!(set.train.rows(), whole.train.rows(), "{name}");
        assert_eq!(set.test.indices(), whole.test.indices(), "{name}");
    }
}

fn open_table(name: &str, text: &str, label: &str) -> data::Dataset {
    let path = file(name, text.as_bytes());
    let name = format!("{}:{label}", path.display());
    open(&name, &OpenOptions::default()).unwrap()
}

/// Few decimals that occur often are classes; many, or each of them once, are measurements.
#[test]
fn a_column_of_measurements_is_refused_as_labels() {
    let table = |n_values: usize, step: f64, n_rows: usize| {
        let row = |row: usize| format!("{row},{}", (row % n_values) as f64 * step);
        let rows: Vec<String> = (0..n_rows).map(row).collect();
        let name = format!("measured_{n_values}_{}_{n_rows}.csv", step.fract() != 0.0);
        let path = file(&name, format!("x,y\n{}", rows.join("\n")).as_bytes());
        open(&format!("{}:y", path.display()), &OpenOptions::default())
    };
    for (n_values, step, n_rows, is_refused) in [
        (4, 0.5, 100, false),
        (20, 0.5, 100, false),
        (21, 0.5, 100, true),
        (10, 0.5, 12, true),
        (30, 1.0, 100, false),
    ] {
        let opened = table(n_values, step, n_rows);
        let case = format!("{n_values} by {step} in {n_rows}");
        assert_eq!(opened.is_err(), is_refused, "{case}");
        if let Err(error) = opened {
            let message = error.to_string();
            assert!(message.contains("regression target"), "{message}");
        }
    }
}

#[test]
fn numbers_as_labels_are_in_numeric_order() {
    let lines: Vec<String> = (0..30)
        .map(|row| format!("{row},{}", [10, 9, -1][row % 3]))
        .collect();
    let text = lines.join(
        "
",
    );
    let path = file("numbers.csv", format!("x,y\n{text}").as_bytes());
    let set = open(&format!("{}:y", path.display()), &OpenOptions::default()).unwrap();
    assert_eq!(set.info.classes, ["-1", "9", "10"]);
    assert_eq!(set.train.labels()[..3], [2, 1, 0]);
}

#[test]
fn unknown_names_come_with_candidates() {
    let error = |name: &str| open(name, &OpenOptions::default()).unwrap_err().to_string();
    assert_eq!(
        error("jsc-sin"),
        "unknown dataset 'jsc-sin'; did you mean 'jsc-sim'?"
    );
    assert_eq!(
        error("mnits"),
        "unknown dataset 'mnits'; did you mean 'mnist'?"
    );
    assert!(error("qwertyuiop").contains("FILE:LABEL"));
}
