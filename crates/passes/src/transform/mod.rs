//! Passes that change the graph.

pub mod prune;
pub mod quantize;

mod fuse_batch_norm;
mod fuse_lora_weights;
mod insert_lora_adapter;
mod remove_prune_wrappers;

pub use fuse_batch_norm::FuseBatchNorm;
pub use fuse_lora_weights::FuseLoraWeights;
pub use insert_lora_adapter::InsertLoraAdapter;
pub use prune::Prune;
pub use quantize::Quantize;
pub use remove_prune_wrappers::RemovePruneWrappers;
