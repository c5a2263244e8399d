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

use crate::{Context, PassError};
use config::Reader;
use std::path::{Path, PathBuf};

/// Reads the path that a pass cannot do without, under the first of its keys that is given.
fn required_path(reader: &mut Reader, keys: &[&'static str], hint: &str) -> PathBuf {
    let path = keys.iter().find_map(|key| reader.text(key));
    if path.is_none() {
        reader.missing(keys[0], hint);
    }
    path.unwrap_or_default().into()
}

/// The bytes of a file: what an earlier pass of the same run wrote, or what is on disk.
fn read_file(context: &Context, path: &Path) -> Result<Vec<u8>, PassError> {
    match context.written(path) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => std::fs::read(path).map_err(|source| PassError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}
