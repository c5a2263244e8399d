//! Tables of the user's own: the network remembers how its rows were prepared, and other rows are prepared alike.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use support::{ch, words};

const NET: &str = r#"graph "pair" {
  x: f32[N, 2] = placeholder
  layer = linear(x) { in_features = 2, out_features = 3 }
  return layer
}"#;

/// Points around three centres, far from zero and of different spread; `classes` of them, from row `first` on.
fn points(first: usize, count: usize, classes: &[&str]) -> String {
    let mut text = "length,width,kind\n".to_owned();
    for row in first..first + count {
        let class = row % classes.len();
        let place = ["cup", "jug", "pot"]
            .iter()
            .position(|name| *name == classes[class])
            .unwrap_or(class);
        let jitter = |seed: usize| ((row * seed) % 97) as f64 / 97.0;
        let (length, width) = (
            5000.0 + 300.0 * place as f64 + 90.0 * jitter(31),
            0.01 * (place * place) as f64 + 0.004 * jitter(57),
        );
        writeln!(text, "{length},{width},{}", classes[class]).unwrap();
    }
    text
}

const KINDS: &[&str] = &["cup", "jug", "pot"];
const BEST: &str = "mase_output/net/software/training_ckpts/best.ckpt";

/// A folder with a table, and a network trained on it.
fn trained(name: &str, options: &str) -> Folder {
    let folder = Folder::new(&format!("tables_{name}"));
    fs::write(folder.join("pair.mg"), NET).unwrap();
    fs::write(folder.join("old.csv"), points(0, 300, KINDS)).unwrap();
    let line = format!(
        "train pair.mg old.csv:kind --max-epochs 40 --batch-size 16 --learning-rate 0.05 --project net {options}"
    );
    let printed = ch(&words(&line), &folder);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let hint = format!("test it: ch test pair.mg old.csv:kind --load ./{BEST} --split test");
    assert!(printed.stdout.contains(&hint), "{}", printed.stdout);
    folder
}

/// All that a command prints; it must end well.
fn output(folder: &Folder, line: &str) -> String {
    let printed = ch(&words(line), folder);
    let all = format!("{}{}", printed.stdout, printed.stderr);
    assert_eq!(printed.code, Some(0), "{line}\n{all}");
    all
}

/// The names of sixteen features.
fn header() -> String {
    let names: Vec<String> = (0..16).map(|column| format!("f{column}")).collect();
    names.join(",") + ","
}

fn accuracy(folder: &Folder, line: &str) -> f64 {
    let printed = ch(&words(&format!("{line} --json")), folder);
    assert_eq!(printed.code, Some(0), "{line}\n{}", printed.stderr);
    let json: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    json["test_acc_epoch"].as_f64().unwrap()
}

#[test]
fn other_rows_are_standardised_as_those_of_the_training() {
    let folder = trained("other", "");
    // Four rows of one class: their own mean and deviation would say nothing.
    fs::write(folder.join("new.csv"), points(1000, 4, &["jug"])).unwrap();
    let line = format!("test pair.mg new.csv:kind --load {BEST}");
    let all = output(&folder, &line);
    let described = "new.csv:kind: all 4 rows (new.csv; standardised by the mean and deviation of the checkpoint)";
    assert!(all.contains(described), "{all}");
    assert_eq!(accuracy(&folder, &line), 1.0);
    assert_eq!(
        accuracy(&folder, &format!("{line} --standardize none")),
        0.0
    );
}

#[test]
fn a_file_is_used_whole_unless_a_split_is_named() {
    let folder = trained("whole", "");
    let line = format!("test pair.mg old.csv:kind --load {BEST}");
    let all = output(&folder, &line);
    assert!(all.contains("old.csv:kind: all 300 rows ("), "{all}");
    let note = "note: the network was trained on rows of this dataset; --split test takes those it has not seen";
    assert!(all.contains(note), "{all}");
    for (split, described) in [
        ("train", "216 training rows of 300"),
        ("val", "24 validation rows of 300"),
        ("test", "60 test rows of 300"),
        ("all", "all 300 rows"),
    ] {
        let all = output(&folder, &format!("{line} --split {split}"));
        assert!(all.contains(described), "{split}: {all}");
    }
    let named = output(&folder, "test jsc-tiny jsc-sim");
    assert!(named.contains("jsc-sim: 20000 test rows of 120000 (made by the program from seed 0; drawn standardised)"), "{named}");
}

#[test]
fn what_is_made_of_a_network_prepares_rows_as_it_does() {
    let folder = trained("made", "");
    let passes = "[passes.quantize.default.config]\nname = \"integer\"\ndata_in_width = 16\ndata_in_frac_width = 10\n\
                  weight_width = 16\nweight_frac_width = 10\nbias_width = 16\nbias_frac_width = 10\n\
                  [passes.save_mase_graph]\nsave_dir = \"saved\"\n";
    fs::write(folder.join("passes.toml"), passes).unwrap();
    fs::write(folder.join("new.csv"), points(1000, 60, KINDS)).unwrap();
    for (project, dataset) in [("with", "old.csv:kind"), ("without", "")] {
        output(
            &folder,
            &format!(
                "transform pair.mg {dataset} --load {BEST} --config passes.toml --project {project}"
            ),
        );
        let transform = format!("mase_output/{project}/software/transform");
        for graph in ["transformed_ckpt/graph.mz", "saved/graph.mz"] {
            let line = format!("test {transform}/{graph} new.csv:kind");
            assert_eq!(accuracy(&folder, &line), 1.0, "{project} {graph}");
        }
    }
    let space = "[search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n[search.search_space.seed.default.config]\n\
                 name = [\"integer\"]\ndata_in_width = [16]\ndata_in_frac_width = [10]\nweight_width = [16]\nweight_frac_width = [10]\n\
                 bias_width = [16]\nbias_frac_width = [10]\n[search.strategy]\nname = \"brute_force\"\n[search.strategy.metrics]\naccuracy.direction = \"maximize\"\n";
    fs::write(folder.join("space.toml"), space).unwrap();
    output(
        &folder,
        &format!("search pair.mg old.csv:kind --load {BEST} --config space.toml --project found"),
    );
    let found = "mase_output/found/software/search_ckpts/best/trial_0.mz";
    assert_eq!(
        accuracy(&folder, &format!("test {found} new.csv:kind")),
        1.0
    );
}

#[test]
fn arrays_are_standardised_too() {
    let folder = trained("array", "");
    fs::write(folder.join("new.csv"), points(1000, 30, KINDS)).unwrap();
    let text = fs::read_to_string(folder.join("new.csv")).unwrap();
    let values: Vec<f32> = text
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').take(2))
        .map(|cell| cell.parse().unwrap())
        .collect();
    interop::npy::write(&folder.join("new.npy"), &[30, 2], &values).unwrap();
    output(
        &folder,
        &format!("predict pair.mg new.csv:kind --load {BEST} --out table.npy"),
    );
    let all = output(
        &folder,
        &format!("predict pair.mg new.npy --load {BEST} --out array.npy"),
    );
    assert!(
        all.contains(
            "new.npy: all 30 rows (standardised by the mean and deviation of the checkpoint)"
        ),
        "{all}"
    );
    let read = |name: &str| interop::npy::read(&folder.join(name)).unwrap().values;
    assert_eq!(read("table.npy"), read("array.npy"));
}

#[test]
fn a_network_trained_on_rows_as_they_are_takes_them_so() {
    let folder = trained("none", "--standardize none");
    let all = output(&folder, &format!("test pair.mg old.csv:kind --load {BEST}"));
    assert!(all.contains("(old.csv; not standardised)"), "{all}");
}

#[test]
fn rows_of_another_width_are_refused() {
    let folder = trained("width", "");
    fs::write(folder.join("thin.csv"), "length,kind\n1,cup\n2,jug\n").unwrap();
    let printed = ch(
        &words(&format!("test pair.mg thin.csv:kind --load {BEST}")),
        &folder,
    );
    assert_eq!(printed.code, Some(2));
    assert_eq!(
        printed.stderr.trim_end(),
        "error: thin.csv: has 1 features a row, but the network was trained on 2"
    );
}

#[test]
fn whole_numbers_are_places_among_the_outputs_of_a_foreign_checkpoint() {
    let folder = Folder::new("tables_places");
    fs::write(folder.join("pair.mg"), NET).unwrap();
    let tensor = |name: &str, shape: &[usize], values: &[f32]| interop::checkpoint::NamedTensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values: values.to_vec(),
    };
    let checkpoint = interop::checkpoint::Checkpoint {
        kind: interop::checkpoint::Kind::Safetensors,
        // The output of the largest feature wins; the second output never does.
        tensors: vec![
            tensor("layer.weight", &[3, 2], &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
            tensor("layer.bias", &[3], &[0.0, -100.0, 0.0]),
        ],
        training: None,
        graph: None,
        metadata: serde_json::Value::Null,
    };
    interop::checkpoint::write(&folder.join("net.safetensors"), &checkpoint).unwrap();
    fs::write(folder.join("rows.csv"), "a,b,kind\n9,1,0\n1,9,2\n8,3,0\n").unwrap();
    assert_eq!(
        accuracy(&folder, "test pair.mg rows.csv:kind --load net.safetensors"),
        1.0
    );
}

#[test]
fn a_few_rows_do_not_shrink_the_network_of_a_checkpoint() {
    let folder = Folder::new("tables_few");
    let line = "train jsc-tiny jsc-sim --max-epochs 1 --max-steps 5 --project net --quiet";
    output(&folder, line);
    let names = header();
    let row = |class: &str| format!("{}{class}\n", "0.5,".repeat(16));
    fs::write(
        folder.join("few.csv"),
        format!("{names}jet\n{}{}", row("t"), row("g")),
    )
    .unwrap();
    fs::write(
        folder.join("numbered.csv"),
        format!("{names}jet\n{}{}", row("2"), row("0")),
    )
    .unwrap();
    for file in ["few.csv", "numbered.csv"] {
        output(
            &folder,
            &format!("predict jsc-tiny {file}:jet --load {BEST} --out {file}.npy"),
        );
        let outputs = interop::npy::read(&folder.join(format!("{file}.npy"))).unwrap();
        assert_eq!(outputs.shape, [2, 5], "{file}");
    }
}

/// Accuracies that PyTorch gave for the labs' networks on all 1 000 rows.
#[test]
fn the_labs_networks_score_as_in_pytorch() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/lab_nets");
    if !golden.exists() {
        eprintln!("skipped: no shared reference files");
        return;
    }
    let folder = Folder::new("tables_labs");
    let rows = interop::checkpoint::read(&golden.join("real1000.safetensors"), None).unwrap();
    let array = |name: &str| {
        &rows
            .tensors
            .iter()
            .find(|tensor| tensor.name == name)
            .unwrap()
            .values
    };
    let (x, y) = (array("x_real1000_std"), array("y_real1000"));
    let mut text = format!("{}label\n", header());
    for (row, label) in x.chunks(16).zip(y) {
        for value in row {
            write!(text, "{value},").unwrap();
        }
        writeln!(text, "{label}").unwrap();
    }
    fs::write(folder.join("real.csv"), text).unwrap();
    for (model, expected) in [("jsc-tiny", 0.589), ("jsc-toy", 0.739)] {
        let weights: PathBuf = golden.join(format!("{model}.safetensors"));
        let line = format!("test {model} real.csv:label --load {}", weights.display());
        assert_eq!(accuracy(&folder, &line), expected, "{model}");
    }
}
