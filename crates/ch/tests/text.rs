//! Text networks on arrays of tokens as a user types them: training, tests, predictions, passes, searches and mistakes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use interop::checkpoint::{self, Checkpoint, Kind, NamedTensor};
use interop::npy::{self, Numbers, Values};
use interop::npz;
use models::ModelInfo;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use support::{ch, words};

const ROWS: usize = 600;
const LENGTH: usize = 6;

/// A folder with `reviews.npz`: tokens, and a label that says if token 7 occurs among them.
struct Workspace(Folder);

impl Workspace {
    fn new(name: &str) -> Self {
        let workspace = Self(Folder::new(&format!("text_{name}")));
        workspace.archive("reviews.npz", &[("tokens", tokens()), ("label", labels())]);
        workspace.archive("tokens.npz", &[("tokens", tokens())]);
        workspace
    }

    fn archive(&self, name: &str, arrays: &[(&str, Numbers)]) {
        let named = |(name, array): &(&str, Numbers)| ((*name).to_owned(), array.clone());
        let arrays: Vec<(String, Numbers)> = arrays.iter().map(named).collect();
        fs::write(self.0.join(name), npz::encode(&arrays).unwrap()).unwrap();
    }

    /// Trains a transformer and gives its best checkpoint.
    fn trained(&self) -> String {
        let line = "train transformer reviews.npz:label --max-epochs 12 --batch-size 32 --learning-rate 2e-3 --project net";
        self.json(line)["best"].as_str().unwrap().to_owned()
    }

    /// The JSON result of a command that must succeed.
    fn json(&self, line: &str) -> Json {
        let printed = ch(&words(&format!("{line} --json --quiet")), &self.0);
        assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
        serde_json::from_str(&printed.stdout).unwrap()
    }

    /// The error of a command that must be refused.
    fn error(&self, line: &str) -> String {
        let printed = ch(&words(&format!("{line} --quiet")), &self.0);
        assert_eq!(printed.code, Some(2), "{line}: {}", printed.stdout);
        printed.stderr.trim_end().to_owned()
    }

    fn output(&self, name: &str) -> npy::Array {
        npy::read(&self.0.join(name)).unwrap()
    }
}

fn integers(shape: &[usize], values: Vec<i64>) -> Numbers {
    Numbers {
        shape: shape.to_vec(),
        values: Values::I64(values),
    }
}

/// Token 7 stands in every second row, in one place or another.
fn tokens() -> Numbers {
    let random = random::Random::new(3, "tokens");
    let token = |k: usize| match (k / LENGTH, k % LENGTH) {
        (row, place) if row % 2 == 1 && place == row / 2 * 5 % LENGTH => 7,
        _ => 8 + (random.bits(k as u64) % 50) as i64,
    };
    integers(&[ROWS, LENGTH], (0..ROWS * LENGTH).map(token).collect())
}

fn labels() -> Numbers {
    integers(&[ROWS], (0..ROWS).map(|row| (row % 2) as i64).collect())
}

fn right(outputs: &npy::Array) -> usize {
    let rows = outputs.values.chunks(2).enumerate();
    rows.filter(|(row, logits)| usize::from(logits[1] > logits[0]) == row % 2)
        .count()
}

#[test]
fn a_transformer_is_trained_tested_and_predicts() {
    let workspace = Workspace::new("train");
    let best = workspace.trained();
    let test = format!("test transformer reviews.npz:label --load {best}");
    let accuracy = workspace.json(&test)["test_acc_epoch"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{accuracy}");

    // Without labels the checkpoint knows the number of classes; a lone array has any name.
    workspace.json(&format!(
        "predict transformer tokens.npz --load {best} --out y.npy"
    ));
    let outputs = workspace.output("y.npy");
    assert_eq!(outputs.shape, [ROWS, 2]);
    assert!(right(&outputs) as f64 > 0.9 * ROWS as f64);
    let array = workspace.0.join("words.npy");
    fs::write(array, npy::encode_numbers(&tokens())).unwrap();
    workspace.json(&format!(
        "predict transformer words.npy --load {best} --out z.npy"
    ));
    assert_eq!(workspace.output("z.npy"), outputs);

    // Without either, it is the model of the next word.
    workspace.json("predict transformer tokens.npz --out next.npy");
    assert_eq!(workspace.output("next.npy").shape, [ROWS, LENGTH, 64]);
}

#[test]
fn a_table_of_whole_numbers_feeds_a_network_of_tokens() {
    let workspace = Workspace::new("table");
    let Values::I64(values) = tokens().values else {
        unreachable!()
    };
    let mut lines = vec!["a,b,c,d,e,f,label".to_owned()];
    for (row, tokens) in values.chunks(LENGTH).enumerate() {
        let cells: Vec<String> = tokens.iter().map(i64::to_string).collect();
        lines.push(format!("{},{}", cells.join(","), row % 2));
    }
    fs::write(workspace.0.join("reviews.csv"), lines.join("\n")).unwrap();
    let scores = ["reviews.csv", "reviews.npz"].map(|file| {
        let line = format!("test transformer {file}:label --seed 3");
        workspace.json(&line)
    });
    assert_eq!(scores[0], scores[1]);
}

#[test]
fn a_transformer_is_quantised_profiled_and_searched() {
    let workspace = Workspace::new("search");
    let best = workspace.trained();
    let rule = "data_in_width = 8\ndata_in_frac_width = 4\nweight_width = 8\nweight_frac_width = 6\nbias_width = 8\nbias_frac_width = 6\n";
    let passes = format!(
        "[passes.profile_statistics]\nby = \"type\"\ntarget_activation_nodes = [\"linear\"]\nnum_samples = 64\n\
         [passes.profile_statistics.activation_statistics]\nrange_min_max = {{ abs = false, dims = \"all\" }}\n\
         [passes.quantize]\nby = \"type\"\n[passes.quantize.linear.config]\nname = \"integer\"\n{rule}\
         [passes.check_quantization]\n"
    );
    fs::write(workspace.0.join("passes.toml"), passes).unwrap();
    workspace.json(&format!(
        "transform transformer reviews.npz:label --load {best} --config passes.toml --project quantised"
    ));
    let graph = "mase_output/quantised/software/transform/transformed_ckpt/graph.mz";
    let line = format!("test transformer reviews.npz:label --load {graph}");
    assert!(workspace.json(&line)["test_acc_epoch"].as_f64().unwrap() > 0.9);

    let compare =
        |rows: &str| workspace.json(&format!("compare {best} {graph} {rows} --num-samples 32"));
    assert_ne!(compare(""), compare("reviews.npz:label"));
    let error = workspace.error(&format!("compare {graph} jsc-tiny"));
    assert!(error.contains("values a row"), "{error}");

    let search = "[search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n[search.search_space.setup]\nby = \"type\"\n\
         [search.search_space.seed.linear.config]\nname = [\"integer\"]\ndata_in_width = [3, 8]\ndata_in_frac_width = [\"NA\"]\n\
         weight_width = [2, 3, 8]\nweight_frac_width = [\"NA\"]\nbias_width = [8]\nbias_frac_width = [\"NA\"]\n\
         [search.strategy]\nname = \"optuna\"\n[search.strategy.sw_runner.basic_evaluation]\ndata_loader = \"test_dataloader\"\n\
         [search.strategy.setup]\nn_trials = 8\nsampler = \"random\"\n\
         [search.strategy.metrics]\naccuracy.scale = 1.0\naverage_bitwidth.scale = 0.2\n";
    fs::write(workspace.0.join("s.toml"), search).unwrap();
    workspace.json(&format!(
        "search transformer reviews.npz:label --load {best} --config s.toml --project searched"
    ));
    let found = Path::new("mase_output/searched/software/search_ckpts");
    let found_best = fs::read_to_string(workspace.0.join(found).join("best.json")).unwrap();
    let found_best: Json = serde_json::from_str(&found_best).unwrap();
    let trials: Vec<&Json> = found_best.as_array().unwrap().iter().collect();
    assert!(!trials.is_empty());
    for trial in trials {
        let path = found.join(format!("best/trial_{}.mz", trial["number"]));
        let line = format!(
            "test transformer reviews.npz:label --split test --load {}",
            path.display()
        );
        assert_eq!(
            workspace.json(&line)["test_acc_epoch"],
            trial["software_metrics"]["accuracy"]
        );
    }
}

/// Weights of a classifier as `transformers` saves them: BERT under its prefix, the head beside it.
fn save_classifier(path: &Path) {
    let info = ModelInfo {
        input: Some(vec![LENGTH]),
        classes: Some(2),
    };
    let mut graph = models::build("bert-tiny", &info).unwrap();
    graph.initialize(1);
    let tensors = graph.parameters().map(|(name, tensor)| NamedTensor {
        name: if name.starts_with("classifier") {
            name
        } else {
            format!("bert.{name}")
        },
        shape: tensor.shape().to_vec(),
        values: tensor.values().to_vec(),
    });
    let file = Checkpoint {
        kind: Kind::StateDict,
        tensors: tensors.collect(),
        training: None,
        graph: None,
        metadata: Json::Null,
    };
    checkpoint::write(path, &file).unwrap();
}

#[test]
fn bert_takes_its_arrays_by_name_and_fills_those_that_may_be_left_out() {
    let workspace = Workspace::new("bert");
    save_classifier(&workspace.0.join("bert.pt"));
    let ones = integers(&[ROWS, LENGTH], vec![1; ROWS * LENGTH]);
    let zeros = integers(&[ROWS, LENGTH], vec![0; ROWS * LENGTH]);
    let half = (0..ROWS * LENGTH).map(|k| i64::from(k % LENGTH < 3));
    let half = integers(&[ROWS, LENGTH], half.collect());
    let ids = ("input_ids", tokens());
    let label = ("label", labels());
    workspace.archive("ids.npz", &[ids.clone(), label.clone()]);
    workspace.archive(
        "all.npz",
        &[
            ids.clone(),
            ("attention_mask", ones),
            ("token_type_ids", zeros),
            label.clone(),
        ],
    );
    workspace.archive("half.npz", &[ids.clone(), ("attention_mask", half), label]);
    workspace.archive("unlabelled.npz", &[ids]);
    let scores = ["ids", "all", "half"]
        .map(|name| workspace.json(&format!("test bert-tiny {name}.npz:label --load bert.pt")));
    assert_eq!(scores[0], scores[1]);
    assert_ne!(scores[0], scores[2]);
    workspace.json("predict bert-tiny unlabelled.npz --load bert.pt --out hidden.npy");
    assert_eq!(workspace.output("hidden.npy").shape, [ROWS, LENGTH, 128]);
    let printed = ch(
        &words("train bert-tiny ids.npz:label --max-steps 2 --batch-size 16 --project tuned"),
        &workspace.0,
    );
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let printed_comparison = ch(
        &words("compare bert-tiny bert-tiny --num-samples 2"),
        &workspace.0,
    );
    assert_eq!(printed_comparison.code, Some(0));
    assert!(printed_comparison.stdout.contains("and 16364 more"));
    let note = "note: ids.npz has no array 'attention_mask': it is 1 throughout";
    assert!(printed.stderr.contains(note), "{}", printed.stderr);
}

#[test]
fn mistakes_are_answered_before_anything_runs() {
    let workspace = Workspace::new("mistakes");
    let label = || ("label", labels());
    let Values::I64(mut values) = tokens().values else {
        unreachable!()
    };
    let floats = Values::F32(values.iter().map(|&token| token as f32).collect());
    values[LENGTH * 2 + 1] = 64;
    let out_of_range = integers(&[ROWS, LENGTH], values);
    let floats = Numbers {
        shape: vec![ROWS, LENGTH],
        values: floats,
    };
    workspace.archive("range.npz", &[("tokens", out_of_range), label()]);
    workspace.archive("floats.npz", &[("tokens", floats), label()]);
    workspace.archive(
        "two.npz",
        &[("tokens", tokens()), ("ids", tokens()), label()],
    );
    let cases = [
        (
            "train transformer range.npz:label",
            "error: range.npz:label: array 'tokens', row 3: 64 is out of range; the vocabulary of transformer has 64 entries, 0 to 63",
        ),
        (
            "test transformer floats.npz:label",
            "error: floats.npz: array 'tokens' has floats where integers are taken: the network takes tokens (i64); the file has tokens (f32[600, 6])",
        ),
        (
            "search transformer two.npz:label --config s.toml",
            "error: two.npz: array 'ids' feeds no input: the network takes tokens (i64); the file has ids (i64[600, 6]), tokens (i64[600, 6])",
        ),
        (
            "test bert-tiny reviews.npz:label",
            "error: reviews.npz: array 'tokens' feeds no input: the network takes input_ids (i64), token_type_ids (i64, 0 if left out), attention_mask (f32, 1 if left out); the file has tokens (i64[600, 6])",
        ),
        (
            "predict transformer reviews.npz --out y.npy",
            "error: reviews.npz: array 'label' feeds no input (labels are named as in reviews.npz:label): the network takes tokens (i64); the file has label (i64[600]), tokens (i64[600, 6])",
        ),
        (
            "test transformer jsc-sim",
            "error: jsc-sim: transformer takes tokens (i64), but the rows are 16 floats each; save an .npz file with arrays of these names",
        ),
        (
            "test transformer reviews.npz",
            "error: unknown dataset 'reviews.npz'; a file is opened by FILE:LABEL, as in jets.csv:class",
        ),
    ];
    let search = "[search.search_space.seed.linear.config]\nname = [\"integer\"]\nweight_width = [4]\nweight_frac_width = [2]\n[search.strategy.metrics]\naccuracy.scale = 1.0\n";
    fs::write(workspace.0.join("s.toml"), search).unwrap();
    for (line, expected) in cases {
        let error = workspace.error(line);
        let last = error.lines().last().unwrap_or_default();
        assert_eq!(last, expected, "{line}");
    }
    assert!(!workspace.0.join("mase_output").exists());
}
