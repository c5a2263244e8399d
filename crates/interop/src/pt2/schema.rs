//! The description of a program, as JSON.

use super::arguments::{Argument, Extent};
use super::{Call, Input, InputKind, Layer, Program, ScalarType, TensorType};
use crate::error::Problem;
use serde_json::Value as Json;

/// The major version of the schema that is read.
const MAJOR: u64 = 8;

/// The program that the text of an entry describes.
pub(super) fn program(part: &str, text: &str) -> Result<Program, Problem> {
    let json: Json =
        serde_json::from_str(text).map_err(|error| Problem::part(part, error.to_string()))?;
    check_version(part, &json)?;
    let module = &json["graph_module"];
    let graph = &module["graph"];
    let bad = |what: &str| Problem::part(part, format!("{what} that PyTorch does not write"));
    let mut program = Program::default();
    for spec in array(&module["signature"]["input_specs"]) {
        let input = input(spec).ok_or_else(|| bad("an input"))?;
        program.inputs.extend(input);
    }
    for (name, value) in graph["tensor_values"].as_object().into_iter().flatten() {
        let ty = tensor_type(value).map_err(|why| Problem::part(name, why))?;
        program.types.insert(name.clone(), ty);
    }
    for (at, node) in array(&graph["nodes"]).iter().enumerate() {
        let call = call(node).ok_or_else(|| bad(&format!("node {at} is one")))?;
        program.calls.push(call);
    }
    for spec in array(&module["signature"]["output_specs"]) {
        if let Some(output) = spec.get("user_output") {
            let argument = output.get("arg").and_then(Argument::read);
            program
                .outputs
                .push(argument.ok_or_else(|| bad("an output"))?);
        }
    }
    Ok(program)
}

fn check_version(part: &str, json: &Json) -> Result<(), Problem> {
    let version = &json["schema_version"];
    let (major, minor) = (version["major"].as_u64(), version["minor"].as_u64());
    let (Some(major), Some(minor)) = (major, minor) else {
        return Err(Problem::part(part, "has no schema_version"));
    };
    if major == MAJOR {
        return Ok(());
    }
    let message = format!(
        "has schema {major}.{minor}; schema {MAJOR} is read, which PyTorch from 2.5 on writes"
    );
    Err(Problem::part(part, message))
}

fn array(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

/// An entry of the signature's inputs; nothing for an argument that is no tensor.
fn input(spec: &Json) -> Option<Vec<Input>> {
    let (kind, value) = spec.as_object()?.iter().next()?;
    let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let kind = match kind.as_str() {
        "user_input" => {
            return Some(match Argument::read(value.get("arg")?)? {
                Argument::Tensor(value) => vec![Input {
                    value,
                    kind: InputKind::User,
                }],
                _ => Vec::new(),
            });
        }
        "parameter" => InputKind::Parameter(text("parameter_name")?),
        "buffer" => InputKind::Buffer(text("buffer_name")?),
        "tensor_constant" => InputKind::Buffer(text("tensor_constant_name")?),
        other => InputKind::Other(other.to_owned()),
    };
    let name = value.get("arg").and_then(|arg| arg.get("name")?.as_str());
    let input = name.map(|name| Input {
        value: name.to_owned(),
        kind,
    });
    Some(input.into_iter().collect())
}

fn tensor_type(json: &Json) -> Result<TensorType, String> {
    let number = json["dtype"].as_u64().ok_or("has no dtype")?;
    let dtype = ScalarType::of_number(number);
    let sizes: Option<Vec<Extent>> = array(&json["sizes"]).iter().map(Extent::read).collect();
    Ok(TensorType {
        dtype: dtype.ok_or_else(|| format!("has the element type {number}, which is not read"))?,
        sizes: sizes.ok_or("has a size that PyTorch does not write")?,
    })
}

fn call(node: &Json) -> Option<Call> {
    let target = node["target"].as_str()?;
    let argument = |input: &Json| {
        let name = input["name"].as_str().unwrap_or_default().to_owned();
        Some((name, Argument::read(input.get("arg")?)?))
    };
    let arguments = array(&node["inputs"]).iter().map(argument);
    let results: Option<Vec<Vec<_>>> = array(&node["outputs"])
        .iter()
        .map(Argument::results)
        .collect();
    let stack = node["metadata"]["nn_module_stack"].as_str();
    Some(Call {
        target: target.trim_start_matches("torch.ops.").to_owned(),
        arguments: arguments.collect::<Option<_>>()?,
        results: results?.into_iter().flatten().collect(),
        module: stack.map(module_path).unwrap_or_default(),
        layer: stack.and_then(layer),
    })
}

/// The path of the innermost module of a stack, `key,path,class;key,path,class`.
fn module_path(stack: &str) -> String {
    let innermost = stack.rsplit(';').next().unwrap_or_default();
    innermost.split(',').nth(1).unwrap_or_default().to_owned()
}

/// The innermost module of a stack, if it is a layer and no container of layers.
fn layer(stack: &str) -> Option<Layer> {
    let mut words = stack.rsplit(';').next()?.split(',');
    let (run, path, class) = (words.next()?, words.next()?, words.next()?);
    let (kind, _) = class.strip_prefix("torch.nn.modules.")?.split_once('.')?;
    let is_layer = !path.is_empty() && !["container", "transformer"].contains(&kind);
    is_layer.then(|| Layer {
        run: run.to_owned(),
        name: path.to_owned(),
        path: path.to_owned(),
    })
}
