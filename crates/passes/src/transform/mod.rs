//! Passes that change the graph.

pub mod quantize;

mod fuse_batch_norm;
mod fuse_lora_weights;
mod insert_lora_adapter;

pub use fuse_batch_norm::FuseBatchNorm;
pub use fuse_lora_weights::FuseLoraWeights;
pub use insert_lora_adapter::InsertLoraAdapter;
pub use quantize::Quantize;
