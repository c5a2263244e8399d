//! Passes that change the graph.

pub mod prune;
pub mod quantize;
pub mod redefine_channels;

mod calibrate;
mod correct_bias;
mod fuse_batch_norm;
mod fuse_lora_weights;
mod gptq;
mod insert_lora_adapter;
mod quantize_rest;
mod remove_prune_wrappers;
mod sampling;
mod walk;

pub use calibrate::Calibrate;
pub use correct_bias::CorrectBias;
pub use fuse_batch_norm::FuseBatchNorm;
pub use fuse_lora_weights::FuseLoraWeights;
pub use gptq::Gptq;
pub use insert_lora_adapter::InsertLoraAdapter;
pub use prune::Prune;
pub use quantize::Quantize;
pub use quantize_rest::QuantizeRest;
pub use redefine_channels::RedefineChannels;
pub use remove_prune_wrappers::RemovePruneWrappers;
