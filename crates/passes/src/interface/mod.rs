//! Passes that read and write files.

mod export_onnx;
mod load_mase_graph;
mod load_node_meta_param;
mod meta_file;
mod meta_toml;
mod save_mase_graph;
mod save_node_meta_param;

pub use export_onnx::ExportOnnx;
pub use load_mase_graph::LoadMaseGraph;
pub use load_node_meta_param::LoadNodeMetaParam;
pub(crate) use meta_file::{MetaFile, node_metadata, text as metadata_text};
pub use save_mase_graph::{SaveMaseGraph, graph_file, graph_hash, graph_of, read_graph_file};
pub use save_node_meta_param::SaveNodeMetaParam;

use crate::{Context, PassError};
use config::{Problem, Reader, Span};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Reads the path that a pass cannot do without, under the first of its keys that is given.
fn required_path(reader: &mut Reader, keys: &[&'static str], hint: &str) -> PathBuf {
    GivenPath::read(reader, keys, hint).path
}

/// A path with the key and the place that it comes from.
struct GivenPath {
    path: PathBuf,
    key: &'static str,
    span: Span,
}

impl GivenPath {
    /// Reads a path that must be given under one of some keys.
    fn read(reader: &mut Reader, keys: &[&'static str], hint: &str) -> Self {
        let given = keys.iter().find_map(|key| {
            let path = reader.text(key)?.into();
            let span = reader.item(key)?.span.clone();
            Some(Self { path, key, span })
        });
        given.unwrap_or_else(|| {
            reader.missing(keys[0], hint);
            Self {
                path: PathBuf::new(),
                key: keys[0],
                span: reader.span(),
            }
        })
    }

    /// The bytes of a file at the path: what an earlier pass of the same run wrote, or what is on disk.
    fn read_file(&self, context: &Context, path: &Path) -> Result<Vec<u8>, PassError> {
        if let Some(bytes) = context.written(path) {
            return Ok(bytes.to_vec());
        }
        std::fs::read(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => PassError::Config(vec![Problem {
                span: self.span.clone(),
                message: format!("{}: there is no file {}", self.key, path.display()),
            }]),
            _ => PassError::Io {
                path: path.to_owned(),
                source,
            },
        })
    }
}
