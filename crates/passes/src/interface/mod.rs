//! Passes that read and write files.

mod load_mase_graph;
mod load_node_meta_param;
mod meta_toml;
mod save_mase_graph;
mod save_node_meta_param;

pub use load_mase_graph::LoadMaseGraph;
pub use load_node_meta_param::LoadNodeMetaParam;
pub use save_mase_graph::{SaveMaseGraph, graph_file, graph_hash, graph_of, read_graph_file};
pub use save_node_meta_param::SaveNodeMetaParam;
