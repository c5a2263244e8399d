//! Keys and values that people wrote for the original: each stands in a file that runs.
//!
//! A section's keys go into one file together: the first values of all, then the second ones, and so on.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use std::fmt::Write;
use std::fs;
use support::{ch, words};

/// Keys of one table with the values to try.
struct Section {
    /// The command.
    action: &'static str,
    /// The file, with `%keys` where the keys go.
    file: &'static str,
    /// Each key with its values in TOML.
    keys: &'static [(&'static str, &'static [&'static str])],
}

const TRUE_FALSE: &[&str] = &["true", "false", "0", "1"];
const NA: &[&str] = &["\"NA\""];

/// Keys of one operand, for formats of every kind; `OPERAND` stands for its word.
const OF_OPERAND: &[(&str, &[&str])] = &[
    ("OPERAND_frac_width", &["4", "\"NA\"", "0", "9"]),
    ("OPERAND_stochastic", TRUE_FALSE),
    ("OPERAND_bipolar", TRUE_FALSE),
    ("OPERAND_scaling_factor", TRUE_FALSE),
    ("OPERAND_levels", &["2"]),
    ("OPERAND_mean", NA),
    (
        "OPERAND_median",
        &["0.0833507776260376", "-0.009714938700199127", "\"NA\""],
    ),
    ("OPERAND_max", &["4.985265731811523", "\"NA\""]),
    ("OPERAND_residual_sign", TRUE_FALSE),
    ("OPERAND_exponent_bias", &["7", "\"NA\"", "127", "128"]),
    ("OPERAND_exponent_width", &["4", "8"]),
    ("OPERAND_exponent_bias_width", &["4"]),
    ("OPERAND_block_size", &["[16]", "8", "[1, 16]"]),
    ("OPERAND_k", &["2", "\"NA\""]),
    ("OPERAND_input_expanded", &["1", "\"NA\""]),
    ("OPERAND_binarization_level", &["1", "\"NA\""]),
    ("OPERAND_in_dim", &["\"NA\"", "32"]),
    ("OPERAND_dim", &["\"NA\"", "32"]),
];

/// Formats that [`OF_OPERAND`] is tried with, each with the width that it has.
const FORMATS: &[(&str, u32)] = &[
    ("integer", 8),
    ("binary", 1),
    ("ternary", 2),
    ("minifloat_ieee", 16),
    ("block_fp", 8),
    ("NA", 8),
];

const HEAD: &str = "model = \"jsc_toy\"\ndataset = \"jsc_sim\"\n";

const SECTIONS: &[Section] = &[
    Section {
        action: "run",
        file: "%keys",
        keys: &[
            (
                "accelerator",
                &["\"gpu\"", "\"cpu\"", "\"cuda\"", "\"auto\""],
            ),
            ("batch_size", &["512", "64"]),
            ("task", &["\"cls\"", "\"classification\""]),
            ("learning_rate", &["0.001", "1e-05", "1000.0"]),
            ("max_epochs", &["10", "0", "-1", "5512"]),
            ("seed", &["42", "0"]),
            ("load_type", &["\"pl\"", "\"hf\"", "\"mz\"", "\"pt\""]),
            ("load_name", &["\"not/there.ckpt\""]),
            ("log_every_n_steps", &["5", "50"]),
            ("training_optimizer", &["\"adamw\"", "\"sgd\"", "\"Adam\""]),
            ("num_workers", &["0", "16"]),
            ("num_devices", &["1"]),
            ("is_pretrained", &["true"]),
            ("weight_decay", &["0.001", "5e-07"]),
            ("max_token_len", &["512"]),
            ("cf_args", &["{}"]),
            ("log_level", &["\"info\""]),
            ("pretrained", &["true"]),
            ("data_loader", &["\"default\""]),
            ("passes", &["{}"]),
            (
                "search_space",
                &["{ style = \"mixed_precision\", runner = \"module\" }"],
            ),
            ("runner", &["{ name = \"mg\", training = false }"]),
            ("strategy", &["{ name = \"ea\", pool = 20 }"]),
        ],
    },
    Section {
        action: "transform",
        file: "[transform]\n%keys\n[passes.count_flops]\n",
        keys: &[
            ("style", &["\"graph\"", "\"module\""]),
            ("passes", &["[\"count_flops\"]"]),
        ],
    },
    Section {
        action: "transform",
        file: "[passes.quantize]\n%keys\n[passes.quantize.linear.config]\nname = \"integer\"\nweight_width = 8\n\
               [passes.quantize.seq_blocks_2.config]\nname = \"integer\"\nweight_width = 8\n",
        keys: &[
            ("by", &["\"type\"", "\"name\"", "\"type_revised\""]),
            ("report", &["true"]),
            ("baseline_weight_path", &["\"not/there\""]),
            ("load_type", &["\"mz\""]),
        ],
    },
    Section {
        action: "transform",
        file: "[passes.quantize.linear.config]\nname = \"binary\"\nweight_width = 1\n%keys",
        keys: &[
            ("binary_training", &["false", "true", "\"NA\"", "1"]),
            ("block_size", &["8"]),
            ("width", &["7"]),
            ("stochastic", TRUE_FALSE),
            ("bipolar", TRUE_FALSE),
            ("additional_layers_inputs", &["[\"seq_blocks_0\"]"]),
            ("additional_layers_outputs", &["[\"seq_blocks_3\"]"]),
            ("floor", &["true", "0"]),
            ("bypass", &["false", "true"]),
        ],
    },
    Section {
        action: "transform",
        file: "[passes.prune.weight]\n%keys\n[passes.prune.activation]\nsparsity = 0.1\n%keys",
        keys: &[
            (
                "scope",
                &[
                    "\"local\"",
                    "\"global\"",
                    "\"tensor\"",
                    "\"layer\"",
                    "\"global-naive\"",
                ],
            ),
            (
                "granularity",
                &["\"elementwise\"", "\"channelwise\"", "\"channel\""],
            ),
            (
                "method",
                &[
                    "\"l1-norm\"",
                    "\"random\"",
                    "\"l2-norm\"",
                    "\"level-pruner\"",
                    "\"channel-pruner\"",
                ],
            ),
            (
                "criterion",
                &["\"l1\"", "\"random\"", "\"neuron_wise_fan_in_random\""],
            ),
            (
                "strategy",
                &[
                    "\"fixed-global\"",
                    "\"fixed-layerwise\"",
                    "\"observe\"",
                    "\"adaptive\"",
                ],
            ),
            ("target", &["0.1", "0.2", "0.2", "0.2", "0.2"]),
            ("fan_in", &["3"]),
            ("fused", &["true"]),
            (
                "config_list",
                &["[{ sparsity_per_layer = 0.1, op_types = [\"Linear\"] }]"],
            ),
        ],
    },
    Section {
        action: "transform",
        file: "[passes.runtime_analysis_ori]\ntype = \"runtime_analysis\"\n%keys",
        keys: &[
            ("num_batches", &["2"]),
            ("num_GPU_warmup_batches", &["1"]),
            ("test", &["true"]),
        ],
    },
    Section {
        action: "search",
        file: "[search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n[search.search_space.setup]\n%keys\n%space",
        keys: &[
            ("by", &["\"type\"", "\"type_revised\"", "\"name\""]),
            ("model", &["\"jsc-toy\""]),
            ("dataset", &["\"jsc\""]),
            ("task", &["\"cls\""]),
            ("score_mod", &["\"none\"", "\"causal\""]),
            ("model_parallel", &["false"]),
        ],
    },
    Section {
        action: "search",
        file: "[search.nas.op_config]\nop_indices = 8\n[search.search_space]\n%keys\n%space",
        keys: &[
            ("name", &["\"graph/quantize/mixed_precision_ptq\""]),
            ("zc", &["{ benchmark = \"nasbench201\" }"]),
            ("nas_zero_cost", &["{ config = { C = [16] } }"]),
            ("config", &["{ model_config = { model = \"vgg7\" } }"]),
        ],
    },
    Section {
        action: "search",
        file: "%space\n[search.search_space.seed.linear.config]\nname = [\"binary\", \"minifloat_ieee\", \"block_fp\"]\n\
               weight_width = [1, 8, 16]\n%keys",
        keys: &[
            (
                "weight_exponent_width",
                &["[3, 4, 5, 6, 7, 8, 9]", "[4, 8]"],
            ),
            ("weight_exponent_bias", &["[3, 4, 5, 6, 7, 8, 9]"]),
            ("weight_block_size", &["[3, 4, 5, 6, 7, 8, 9]", "[16]"]),
            ("weight_stochastic", &["[3, 4, 5, 6, 7, 8, 9]", "[0, 1]"]),
            ("weight_bipolar", &["[3, 4, 5, 6, 7, 8, 9]", "[0, 1]"]),
            ("weight_frac_width", &["[\"NA\"]", "[2, 4, 6]"]),
            ("channel_multiplier", &["[1, 2, 3, 5]"]),
            ("parent", &["[\"feature_layers_0\"]"]),
            ("parent_block_name", &["[\"seq_blocks_2\"]"]),
            ("prev_link", &["[\"seq_blocks_2\"]"]),
            ("in_features", &["[16]"]),
            ("out_features", &["[16]"]),
            ("precision", &["[\"int8\", \"fp16\"]"]),
            ("calibrators", &["[\"entropy\", \"mse\"]"]),
            ("percentile", &["[99.0, 99.9]"]),
            ("name_redefine", &["[\"output_only\"]"]),
            ("input_multiplier", &["[1, 2]"]),
            ("output_multiplier", &["[1, 2]"]),
            ("input_channel_multiplier", &["[2, 4]"]),
            ("output_channel_multiplier", &["[2, 4]"]),
            ("implementation", &["[\"dataflow\"]"]),
            ("fusion_strategy", &["[\"none\", \"flex_attention\"]"]),
        ],
    },
    Section {
        action: "search",
        file: "%space\n[search.strategy]\n%keys",
        keys: &[
            ("name", &["\"optuna\"", "\"brute_force\"", "\"BruteForce\""]),
            ("eval_mode", &["true"]),
            ("algorithm", &["\"ppo\"", "\"ddpg\""]),
            ("env", &["\"mixed_precision\""]),
            ("device", &["\"cuda\"", "\"cpu\""]),
            ("total_timesteps", &["100000"]),
            ("save_name", &["\"tmp_rl\""]),
            ("n_steps", &["32"]),
            ("n_envs", &["4"]),
            ("num_episodes", &["1"]),
            ("eval_freq", &["200"]),
            ("save_freq", &["200"]),
            ("learning_rate", &["0.00025"]),
            ("episode_max_len", &["1000"]),
            ("episodes_max_len", &["10"]),
            (
                "sw_runner",
                &[
                    "\"basic_evaluation\"",
                    "{ zero_cost = { metrics = [\"snip\"] } }",
                    "{ basic_sparsity = { name = \"weight_sparsity\" } }",
                    "{ basic_computations = { name = \"total_flops\" } }",
                ],
            ),
            (
                "hw_runner",
                &[
                    "\"average_bitwidth\"",
                    "{ hw_dummy = {} }",
                    "{ latency = { num_batches = 50 } }",
                ],
            ),
            ("data_loader", &["\"val_dataloader\""]),
            ("num_samples", &["256", "16"]),
            ("load_path", &["{ path = \"not/there\" }"]),
        ],
    },
    Section {
        action: "search",
        file: "%space\n[search.strategy]\neval_mode = false\n[search.strategy.sw_runner.basic_train]\nmax_steps = 1\n%keys",
        keys: &[
            (
                "data_loader",
                &["\"train_dataloader\"", "\"val_dataloader\""],
            ),
            ("num_samples", &["1000000", "512"]),
            ("max_epochs", &["10", "1"]),
            ("optimizer", &["\"adam\""]),
            ("learning_rate", &["0.0001"]),
            ("lr_scheduler", &["\"linear\""]),
            ("num_warmup_steps", &["0", "200"]),
            ("name", &["\"accuracy\""]),
        ],
    },
    Section {
        action: "search",
        file: "%space\n[search.strategy.setup]\n%keys",
        keys: &[
            ("sum_scaled_metrics", &["false", "true"]),
            ("n_jobs", &["1", "4"]),
            ("timeout", &["20000", "20"]),
            (
                "sampler",
                &[
                    "\"tpe\"",
                    "\"bruteforce\"",
                    "\"brute-force\"",
                    "\"brute_force\"",
                    "\"TPE\"",
                    "\"nsgaii\"",
                ],
            ),
            ("direction", &["\"maximize\"", "\"minimize\""]),
            ("algorithm", &["\"a2c\""]),
            ("env", &["\"MixedPrecisionEnv\""]),
            ("weight_lower_limit", &["0", "-50"]),
            ("weight_upper_limit", &["30", "50"]),
            ("device", &["\"cpu\""]),
            ("total_trials", &["300"]),
            ("model_parallel", &["false"]),
            ("total_timesteps", &["32000"]),
            ("runner_style", &["\"lm\""]),
            ("save_name", &["\"test\""]),
            ("mode", &["\"load\"", "\"train\""]),
            ("load_path", &["\"not/there\""]),
        ],
    },
    Section {
        action: "search",
        file: "%space\n[search.strategy.metrics.average_bitwidth]\n%keys",
        keys: &[
            ("scale", &["1.0", "0.2", "-0.1", "0.0"]),
            ("direction", &["\"maximize\"", "\"minimize\""]),
            ("lower_bound", &["6", "0"]),
            ("upper_bound", &["12", "1"]),
        ],
    },
];

/// Every table of a search that a section may leave out, the last table of each name being the section's own.
const SPACE: &[(&str, &str)] = &[
    (
        "search.search_space]",
        "name = \"graph/quantize/mixed_precision_ptq\"",
    ),
    ("search.search_space.setup]", "by = \"type\""),
    (
        "search.search_space.seed.linear.config]",
        "name = [\"integer\"]\nweight_width = [4, 8]",
    ),
    (
        "search.search_space.seed.seq_blocks_2.config]",
        "name = [\"integer\"]\nweight_width = [4, 8]",
    ),
    ("search.strategy]", "name = \"optuna\""),
    ("search.strategy.setup]", "n_trials = 2"),
    ("search.strategy.metrics.accuracy]", "scale = 1.0"),
];

/// The file of a section with the values of one round; nothing when no key has so many.
fn file(section: &Section, round: usize) -> Option<String> {
    let mut keys = String::new();
    let mut has_new = false;
    for (key, values) in section.keys {
        if let Some(value) = values.get(round) {
            writeln!(keys, "{key} = {value}").unwrap();
            has_new = true;
        }
    }
    let mut space = String::new();
    for (table, content) in SPACE {
        if !section.file.contains(&format!("[{table}")) {
            writeln!(space, "[{table}\n{content}").unwrap();
        }
    }
    let text = section
        .file
        .replace("%keys", &keys)
        .replace("%space", &space);
    has_new.then(|| format!("{HEAD}{text}"))
}

/// A folder with the network that the files are run on.
fn trained(name: &str) -> Folder {
    let folder = Folder::new(&format!("original_keys_{name}"));
    let line = "train jsc-toy jsc-sim --max-steps 5 --project net --quiet";
    assert_eq!(ch(&words(line), &folder).code, Some(0));
    folder
}

/// Runs a file and returns what is wrong with it.
fn refusal(folder: &Folder, action: &str, text: &str) -> Option<String> {
    fs::write(folder.join("old.toml"), text).unwrap();
    let line = format!(
        "{action} --config old.toml --load mase_output/net --project made --no-progress --quiet"
    );
    let printed = ch(&words(&line), folder);
    fs::remove_dir_all(folder.join("mase_output/made")).ok();
    (printed.code != Some(0)).then(|| format!("{text}\n{}{}", printed.stdout, printed.stderr))
}

fn check(action: &str) {
    let folder = trained(action);
    let mut refused = Vec::new();
    for section in SECTIONS.iter().filter(|section| section.action == action) {
        let texts = (0..).map_while(|round| file(section, round));
        refused.extend(texts.filter_map(|text| refusal(&folder, action, &text)));
    }
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

#[test]
fn settings_run() {
    check("run");
}

#[test]
fn passes_run() {
    check("transform");
}

#[test]
fn searches_run() {
    check("search");
}

/// One list of keys serves formats of every kind.
#[test]
fn keys_of_every_format_run_with_any() {
    let folder = trained("formats");
    let mut refused = Vec::new();
    for (format, width) in FORMATS {
        for round in 0..4 {
            let mut keys = format!("name = \"{format}\"\n");
            for operand in ["data_in", "weight", "bias"] {
                writeln!(keys, "{operand}_width = {width}").unwrap();
                for (key, values) in OF_OPERAND {
                    let value = values.get(round).unwrap_or(&values[0]);
                    let key = key.replace("OPERAND", operand);
                    writeln!(keys, "{key} = {value}").unwrap();
                }
            }
            let text = format!("model = \"jsc-toy\"\n[passes.quantize.linear.config]\n{keys}");
            refused.extend(refusal(&folder, "transform", &text));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}
