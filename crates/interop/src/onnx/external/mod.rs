//! Files beside the network that hold its large tensors.

use super::error::OnnxProblem;
use super::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, tensor_proto::DataLocation,
};
use crate::bounded;
use bytes::Bytes;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Larger files of tensors are refused: 16 GiB.
const MAX_DATA_BYTES: u64 = 1 << 34;

/// Puts the data beside the file at `network` into the tensors that name it.
pub fn attach(model: &mut ModelProto, network: &Path) -> Result<(), OnnxProblem> {
    let folder = network.parent().unwrap_or(Path::new(""));
    let mut files = HashMap::new();
    each_tensor(model, &mut |tensor| {
        if !is_external(tensor) {
            return Ok(());
        }
        let name = tensor.name().to_owned();
        let place = Place::of(tensor).map_err(|message| OnnxProblem::tensor(&name, message))?;
        let path = folder.join(&place.file);
        let data = if let Some(data) = files.get(&path) {
            Bytes::clone(data)
        } else {
            if !lies_beside(&path, network) {
                return Err(OnnxProblem::tensor(&name, outside(&place.file)));
            }
            let data = read(&path).map_err(|message| OnnxProblem::tensor(&name, message))?;
            files.insert(path.clone(), data.clone());
            data
        };
        let end = match place.length {
            Some(length) => place.offset.checked_add(length),
            None => Some(data.len()),
        };
        let end = end.filter(|&end| place.offset <= end && end <= data.len());
        let end = end.ok_or_else(|| {
            let (offset, len, path) = (place.offset, data.len(), path.display());
            let message =
                format!("its data from byte {offset} on ends behind the {len} bytes of {path}");
            OnnxProblem::tensor(&name, message)
        })?;
        tensor.raw_data = Some(data.slice(place.offset..end));
        tensor.external_data.clear();
        tensor.data_location = None;
        Ok(())
    })
}

/// The bytes of a file of tensors.
fn read(path: &Path) -> Result<Bytes, String> {
    let shown = path.display();
    match bounded::read(path, MAX_DATA_BYTES) {
        Ok(Some(bytes)) => Ok(bytes.into()),
        Ok(None) => Err(format!(
            "its data in {shown}: has more than the {MAX_DATA_BYTES} bytes that are read"
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!(
            "its data is missing: there is no file {shown}, which belongs to the network"
        )),
        Err(error) => Err(format!("its data in {shown}: {error}")),
    }
}

/// False for a link that leaves the folder. A cache may link both files to a folder of its own.
fn lies_beside(path: &Path, network: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        // A file that is missing leaves nothing.
        return true;
    };
    let folder = |network: &Path| {
        let parent = network.parent().filter(|parent| parent != &Path::new(""));
        parent.unwrap_or(Path::new(".")).canonicalize()
    };
    let stays = |folder: PathBuf| path.starts_with(folder);
    let linked = network.canonicalize();
    folder(network).is_ok_and(stays) || linked.is_ok_and(|file| folder(&file).is_ok_and(stays))
}

fn outside(file: &Path) -> String {
    let file = file.display();
    format!("its data in '{file}' does not lie in the folder of the file")
}

/// Refuses a network that names data beside its file.
pub fn refuse(model: &ModelProto) -> Result<(), OnnxProblem> {
    each_tensor(&mut model.clone(), &mut |tensor| {
        if is_external(tensor) {
            let message = "its data lies beside the file; open the file by its path";
            return Err(OnnxProblem::tensor(tensor.name(), message));
        }
        Ok(())
    })
}

fn is_external(tensor: &TensorProto) -> bool {
    tensor.data_location == Some(DataLocation::External as i32)
}

/// The part of a file that is the data of a tensor.
struct Place {
    file: PathBuf,
    offset: usize,
    length: Option<usize>,
}

impl Place {
    fn of(tensor: &TensorProto) -> Result<Self, String> {
        let entry = |key: &str| {
            let found = tensor.external_data.iter().find(|e| e.key() == key);
            found.map(|entry| entry.value().to_owned())
        };
        let number = |key: &str| -> Result<Option<usize>, String> {
            let text = entry(key);
            let parsed = text.map(|text| {
                let number = text.parse::<usize>();
                number.map_err(|_| format!("the {key} '{text}' of its data is not a size"))
            });
            parsed.transpose()
        };
        let location = entry("location").ok_or("its data lies beside the file, but not where")?;
        let file = PathBuf::from(&location);
        let stays = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        if location.is_empty() || !file.components().all(stays) || location.contains('\\') {
            return Err(outside(&file));
        }
        Ok(Self {
            file,
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }
}

type Visit<'v> = dyn FnMut(&mut TensorProto) -> Result<(), OnnxProblem> + 'v;

fn each_tensor(model: &mut ModelProto, visit: &mut Visit) -> Result<(), OnnxProblem> {
    if let Some(graph) = &mut model.graph {
        graph_tensors(graph, visit)?;
    }
    for function in &mut model.functions {
        node_tensors(&mut function.node, visit)?;
    }
    Ok(())
}

fn graph_tensors(graph: &mut GraphProto, visit: &mut Visit) -> Result<(), OnnxProblem> {
    for tensor in &mut graph.initializer {
        visit(tensor)?;
    }
    node_tensors(&mut graph.node, visit)
}

fn node_tensors(nodes: &mut [NodeProto], visit: &mut Visit) -> Result<(), OnnxProblem> {
    for attribute in nodes.iter_mut().flat_map(|node| &mut node.attribute) {
        let AttributeProto {
            t,
            tensors,
            g,
            graphs,
            ..
        } = attribute;
        for tensor in t.iter_mut().chain(tensors) {
            visit(tensor)?;
        }
        for graph in g.iter_mut().chain(graphs) {
            graph_tensors(graph, visit)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
