//! The tests of each pass, in the file of its name; its golden files are in `tests/golden/PASS`. What holds for all passes
//! is in `tests/laws.rs`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod network;

mod pipelines;
mod program;
mod sampling;

mod add_natural_sparsity;
mod calculate_avg_bits;
mod calibrate;
mod check_quantization;
mod correct_bias;
mod count_bitops;
mod count_flops;
mod fuse_batch_norm;
mod fuse_lora_weights;
mod gptq;
mod insert_lora_adapter;
mod load_node_meta_param;
mod profile_statistics;
mod prune;
mod quantize;
mod redefine_channels;
mod remove_prune_wrappers;
mod report_graph;
mod runtime_analysis;
mod save_mase_graph;
mod save_node_meta_param;
mod summarize_quantization;
