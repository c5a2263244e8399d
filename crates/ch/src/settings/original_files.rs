//! Keys and values of files that were written for the original, by table: a file with any of them is accepted, or what it
//! asks for is named as something of the original that is not here.

use super::file::{Scope, parse};
use super::{Action, SETTINGS, Setting};

/// A table: the text before the key, which ends with the table's header, and its keys with values.
struct Section {
    before: &'static str,
    keys: &'static [&'static str],
}

const SECTIONS: &[Section] = &[
    Section {
        before: "",
        keys: &[
            "model = \"toy\"",
            "dataset = \"toy_tiny\"",
            "accelerator = \"gpu\"",
            "accelerator = \"cuda\"",
            "accelerator = \"mps\"",
            "accelerator = \"auto\"",
            "gpu = 1",
            "devices = 2",
            "num_devices = 1",
            "strategy = \"ddp\"",
            "task = \"cls\"",
            "task = \"Classification\"",
            "max_epochs = -1",
            "load_type = \"pl\"",
            "load_type = \"mz\"",
            "load_type = \"pt\"",
            "load_type = \"hf\"",
            "training_optimizer = \"AdamW\"",
            "training_optimizer = \"sgd\"",
            "num_workers = 16",
            "is_pretrained = true",
            "pretrained = true",
            "max_token_len = 512",
            "log_level = \"info\"",
            "data_loader = \"default\"",
            "trainer_precision = \"16-mixed\"",
            "trainer_precision = 16",
            "report_to = \"wandb\"",
            "quant_config = \"x.toml\"",
            "cf_args = {}",
            "project_dir = \"x\"",
            "[search_space]\nstyle = \"mixed_precision\"\n[search_space.quantization]\nby = \"name\"",
            "[runner]\nname = \"mg\"\ntraining = false",
            "[strategy]\nname = \"ea\"\n[strategy.setup]\nmodel_parallel = false",
            "[transform]\nstyle = \"graph\"",
            "[transform]\nstyle = \"module\"",
            "passes = {}",
            "task = \"cls\"\nload_type = \"hf\"",
        ],
    },
    Section {
        before: "[passes.quantize]\n",
        keys: &[
            "by = \"type\"\nlinear.config.name = \"NA\"",
            "by = \"name\"\nlinear.config.name = \"NA\"",
            "report = true\nlinear.config.name = \"NA\"",
            "baseline_weight_path = \"x\"\nlinear.config.name = \"NA\"",
            "load_type = \"mz\"\nload_name = \"x\"\nlinear.config.name = \"NA\"",
        ],
    },
    Section {
        before: "[passes.quantize.linear.config]\nname = \"binary\"\nweight_width = 1\n",
        keys: &[
            "weight_frac_width = 4",
            "data_in_frac_width = 0",
            "data_in_stochastic = 0",
            "weight_stochastic = false",
            "bias_stochastic = true",
            "weight_bipolar = 1",
            "data_in_bipolar = true",
            "binary_training = false",
            "binary_training = 1",
            "binary_training = \"NA\"",
            "stochastic = true",
            "bipolar = false",
            "weight_scaling_factor = true",
            "data_in_levels = 2",
            "data_in_residual_sign = true",
            "weight_exponent_bias = \"NA\"",
            "data_in_k = 2",
            "data_in_input_expanded = 1",
            "data_in_binarization_level = 1",
            "data_in_dim = 32",
            "weight_in_dim = \"NA\"",
            "additional_layers_inputs = [\"seq_blocks_0\"]",
            "additional_layers_outputs = [\"seq_blocks_3\"]",
            "block_size = 8",
            "width = 7",
            "bypass = true",
            "floor = true",
        ],
    },
    Section {
        before: "[passes.quantize.linear.config]\nname = \"ternary\"\nweight_width = 2\n",
        keys: &[
            "weight_mean = \"NA\"",
            "weight_median = -0.0033772289752960205",
            "weight_median = 0.1",
            "weight_max = 0.4998381733894348",
            "weight_scaling_factor = false",
            "weight_scaling_factor = 1",
            "weight_frac_width = 9",
            "bias_median = -0.01",
        ],
    },
    Section {
        before: "[passes.quantize.linear.config]\nname = \"integer\"\nweight_width = 8\n",
        keys: &[
            "weight_frac_width = 4",
            "data_out_width = 8\ndata_out_frac_width = 3",
            "weight_exponent_bias = 127",
            "bias_exponent_width = 4",
            "bias_block_size = [16]",
            "weight_exponent_bias_width = 4",
        ],
    },
    Section {
        before: "",
        keys: &[
            "[passes.add_hardware_metadata]",
            "[passes.add_software_metadata]",
            "[passes.verify_common_metadata]",
            "[passes.metadata_value_type_cast]",
            "[passes.graph]\ntype = \"report_graph\"",
            "[passes.report_node_meta_param]\nwhich = [\"software\"]",
            "[passes.save_node_meta_param]\nsave_path = \"stats.toml\"",
            "[transform]\npasses = [\"count_flops\"]\n[passes.count_flops]",
        ],
    },
    Section {
        before: "[passes.profile_statistics]\nby = \"type\"\nnum_samples = 32\ntarget_weight_nodes = [\"linear\"]\n\
                 target_activation_nodes = [\"relu\"]\n\
                 weight_statistics.range_min_max = {dims = \"all\", abs = false}\n",
        keys: &[
            "activation_statistics.range_min_max = {dims = \"all\", abs = false}",
            "activation_statistics.range_quantile = {dims = \"all\", abs = false, quantile = 0.5}",
        ],
    },
    Section {
        before: "[passes.prune.weight]\nsparsity = 0.2\n",
        keys: &[
            "method = \"l1-norm\"",
            "method = \"random\"",
            "scope = \"local\"",
            "scope = \"global\"",
            "scope = \"tensor\"",
            "scope = \"layer\"",
            "scope = \"global-naive\"",
            "granularity = \"channelwise\"",
            "criterion = \"l1\"",
            "criterion = \"random\"",
            "strategy = \"fixed-global\"",
            "target = 0.1",
            "fused = true",
            "method = \"level-pruner\"",
            "method = \"channel-pruner\"",
        ],
    },
];

const SPACE: &str = "\
[search.search_space]
name = \"graph/quantize/mixed_precision_ptq\"
[search.search_space.setup]
by = \"type\"
%setup
[search.search_space.seed.linear.config]
name = [\"integer\"]
weight_width = [4, 8]
%seed
[search.strategy]
name = \"optuna\"
%strategy
[search.strategy.setup]
n_trials = 5
%more
[search.strategy.metrics]
accuracy.scale = 1.0
%metrics
";

/// Keys of `[search]`, each with the mark of [`SPACE`] that it takes the place of.
const SEARCH: &[(&str, &str)] = &[
    (
        "%setup",
        "model = \"jsc-toy\"\ndataset = \"jsc\"\ntask = \"cls\"",
    ),
    ("%setup", "score_mod = \"none\"\nmodel_parallel = false"),
    ("%seed", "weight_frac_width = [2, 2, 4]"),
    ("%seed", "weight_exponent_width = [3, 4]"),
    (
        "%seed",
        "data_in_width = [4, 8]\ndata_in_frac_width = [\"NA\"]",
    ),
    ("%seed", "weight_block_size = [3, 4]"),
    ("%strategy", "eval_mode = false"),
    (
        "%strategy",
        "sw_runner = \"basic_evaluation\"\nhw_runner = \"average_bitwidth\"",
    ),
    (
        "%strategy",
        "data_loader = \"val_dataloader\"\nnum_samples = 512",
    ),
    ("%strategy", "save_every_n_trials = 5\npkl_ckpt = true"),
    (
        "%strategy",
        "algorithm = \"ppo\"\nenv = \"x\"\ndevice = \"cuda\"\ntotal_timesteps = 10",
    ),
    ("%strategy", "load_path.path = \"x\""),
    ("%strategy", "hw_runner.hw_dummy = {}"),
    ("%strategy", "hw_runner.hw_dummy.name = \"hw_dummy\""),
    ("%strategy", "hw_runner.average_bitwidth.compare_to = 32"),
    (
        "%strategy",
        "hw_runner.latency = {num_batches = 50, num_warmup_batches = 5}",
    ),
    (
        "%strategy",
        "sw_runner.basic_evaluation = {name = \"accuracy\", num_samples = 512}",
    ),
    (
        "%strategy",
        "sw_runner.basic_evaluation = {dataloader = \"val_dataloader\"}",
    ),
    (
        "%strategy",
        "sw_runner.basic_train = {learning_rate = 0.01}",
    ),
    (
        "%strategy",
        "sw_runner.basic_computations = {name = \"total_bitops\"}",
    ),
    (
        "%strategy",
        "sw_runner.basic_sparsity = {name = \"weight_sparsity\"}",
    ),
    ("%strategy", "sw_runner.zero_cost = {metrics = [\"snip\"]}"),
    ("%more", "sampler = \"TPE\""),
    ("%more", "sampler = \"bruteforce\""),
    ("%more", "sampler = \"brute-force\""),
    ("%more", "sampler = \"BruteForce\""),
    ("%more", "sampler = \"brute\""),
    (
        "%more",
        "sum_scaled_metrics = false\ndirection = \"maximize\"",
    ),
    ("%more", "n_jobs = 4\ntimeout = 20000"),
    (
        "%more",
        "algorithm = \"a2c\"\nenv = \"x\"\ntotal_trials = 300\nmode = \"load\"",
    ),
    (
        "%more",
        "weight_lower_limit = -50\nweight_upper_limit = 50\nsave_name = \"x\"",
    ),
    ("%more", "runner_style = \"lm\"\nmodel_parallel = false"),
    (
        "%metrics",
        "average_bitwidth = {scale = 0.0, direction = \"minimize\"}",
    ),
    (
        "%metrics",
        "average_bitwidth = {lower_bound = 4, upper_bound = 8}",
    ),
    ("%metrics", "total_bitops.scale = 0.2"),
];

/// Things of the original that are not here, with what the message says.
const NOT_HERE: &[(&str, &str)] = &[
    (
        "[passes.tensorrt]\nby = \"type\"",
        "tensorrt is a pass of the original",
    ),
    (
        "[passes.tensorrt-analysis]\nnum_batches = 5",
        "tensorrt-analysis is a pass of the original",
    ),
    (
        "[passes.onnxruntime]\ndo_test = \"both\"",
        "onnxruntime is a pass of the original",
    ),
    (
        "[passes.huffman]\nis_huffman = true",
        "huffman is a pass of the original",
    ),
    (
        "[passes.retrain.trainer]\ndevices = 1",
        "retrain is a pass of the original",
    ),
    (
        "[passes.mine]\ntype = \"sparsity_fp16\"",
        "sparsity_fp16 is a pass of the original",
    ),
    ("task = \"lm\"", "lm is a task of the original"),
    (
        "model = \"jsc-custom\"",
        "model: jsc-custom is a model of the original that is not here: its class was the user's",
    ),
    (
        "model = \"facebook/opt-125m\"",
        "model: facebook/opt-125m is a model of the original",
    ),
    (
        "dataset = \"wikitext2\"",
        "dataset: wikitext2 is a dataset of the original",
    ),
    (
        "[passes.quantize.linear.config]\nname = \"logicnets\"\nweight_width = 1",
        "logicnets is a number format of the original",
    ),
    (
        "task = \"instance-segmentation\"",
        "instance-segmentation is a task of the original",
    ),
    (
        "[passes.quantize.linear.config]\nname = \"binary_residual\"\nweight_width = 1",
        "binary_residual is a number format of the original",
    ),
    (
        "[search.search_space]\nname = \"graph/zero_cost_proxy\"\nzc.benchmark = \"nasbench201\"",
        "graph/zero_cost_proxy is a search space of the original",
    ),
    (
        "[search.search_space]\nname = \"module/quantize_fusion\"",
        "module/quantize_fusion is a search space of the original",
    ),
    (
        "[search.strategy]\nname = \"rl\"\nalgorithm = \"ppo\"",
        "rl is a search strategy of the original",
    ),
    (
        "[search.strategy]\nname = \"optuna\"\nmetrics.latency.scale = 1.0",
        "latency is a metric of the original",
    ),
];

fn problems(text: &str) -> Vec<String> {
    let scope = Scope {
        action: Action::Run,
        pipeline: None,
        typed: &[],
    };
    match parse(text, scope) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.file.into_iter().map(|p| p.message).collect(),
    }
}

#[test]
fn keys_of_the_original_are_accepted() {
    let mut refused = Vec::new();
    for section in SECTIONS {
        for key in section.keys {
            let text = format!("{}{key}\n", section.before);
            for problem in problems(&text) {
                refused.push(format!("{}{key}: {problem}", section.before));
            }
        }
    }
    for (mark, keys) in SEARCH {
        for problem in problems(&search(mark, keys)) {
            refused.push(format!("{mark} {keys}: {problem}"));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

fn search(mark: &str, keys: &str) -> String {
    let marks = ["%setup", "%seed", "%strategy", "%more", "%metrics"];
    let text = SPACE.replace(mark, keys);
    marks.iter().fold(text, |text, mark| text.replace(mark, ""))
}

#[test]
fn what_the_original_has_and_is_not_here_is_named_as_such() {
    for (text, expected) in NOT_HERE {
        let found = problems(text);
        let is_named = found.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{text}: {found:?}");
    }
}

#[test]
fn a_path_that_is_not_there_is_named_with_its_key() {
    for (text, expected) in [
        (
            "load_name = \"no.ckpt\"",
            "load_name: there is no file no.ckpt",
        ),
        ("model = \"no.mg\"", "model: there is no file no.mg"),
        ("dataset = \"no.csv:y\"", "dataset: there is no file no.csv"),
    ] {
        assert_eq!(problems(text), [expected]);
    }
    let typed: Vec<(&Setting, String)> = SETTINGS
        .iter()
        .filter(|setting| ["load_name", "task"].contains(&setting.key))
        .map(|setting| (setting, "cls".to_owned()))
        .collect();
    let scope = Scope {
        action: Action::Run,
        pipeline: None,
        typed: &typed,
    };
    let text = "load_name = \"no.ckpt\"\ntask = \"lm\"\nmax_epochs = 0\n";
    assert!(parse(text, scope).is_ok(), "the command line wins");
}

#[test]
fn problems_of_all_tables_are_reported_together() {
    let text = "model = \"jsc-custom\"\n[passes.tensorrt]\n[search.search_space]\nname = \"graph/zero_cost_proxy\"\n\
                [search.strategy]\nname = \"rl\"\n";
    let found = problems(text);
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_misspelt_key_is_still_an_error_with_the_nearest_name() {
    let cases = [
        (
            "acelerator = \"cpu\"".to_owned(),
            "did you mean 'accelerator'?",
        ),
        (
            "[transform]\nstile = \"graph\"".to_owned(),
            "did you mean 'style'?",
        ),
        (
            "[passes.quantize.linear.config]\nname = \"integer\"\nweight_widht = 8".to_owned(),
            "'widht'; did you mean 'width'?",
        ),
        (
            search("%more", "smapler = \"tpe\""),
            "did you mean 'sampler'?",
        ),
        (
            search("%strategy", "pkl_chpt = true"),
            "did you mean 'pkl_ckpt'?",
        ),
    ];
    for (text, expected) in cases {
        let found = problems(&text);
        let is_named = found.iter().any(|problem| problem.contains(expected));
        assert!(is_named, "{text}: {found:?}");
    }
}
