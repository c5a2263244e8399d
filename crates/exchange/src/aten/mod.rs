//! PyTorch's exported programs as graphs.
//!
//! A [`Program`] is plain data: whoever has one, from a file or from a running Python, gives it to [`import`] with its tensors.
//! [`OPERATORS`] is the table of what is read: operator, reader. What it does not hold stays in the graph of a file as `opaque`;
//! [`import`], whose graph is there to run, refuses it with a list of all.

mod aliases;
mod builder;
mod call;
mod readers;
mod source;
mod table;

pub use interop::pt2::{Program, Tensors};
pub use table::OPERATORS;

use crate::error::{ExchangeError, ImportProblem};
use crate::onnx::Imported;
use std::path::Path;

/// Reads a network from a file; `batch_axis` makes the fixed first axis of every input the batch.
///
/// # Errors
/// When the file cannot be read or its network makes no graph.
pub fn read(path: &Path, batch_axis: bool) -> Result<Imported, ExchangeError> {
    let (program, tensors) = interop::pt2::read(path)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = name.as_deref().unwrap_or("program");
    let mut builder = builder::Builder::keeping(&program);
    builder.makes_batch = batch_axis;
    run(builder, name, tensors).map_err(|problem| ExchangeError::Network {
        path: path.to_owned(),
        problem,
    })
}

/// The graph of a program that is there to run, with its parameters.
///
/// # Errors
/// When operators of the program are not read, all of which are listed, or the graph breaks rules.
pub fn import(name: &str, program: &Program, tensors: Tensors) -> Result<Imported, ImportProblem> {
    run(builder::Builder::new(program), name, tensors)
}

/// The graph of a program, with its parameters. Calls that are not read stay as they are, if the program states their results.
///
/// # Errors
/// When the program is broken, calls that are not read cannot stay, or the graph breaks rules.
pub fn import_with_opaque(
    name: &str,
    program: &Program,
    tensors: Tensors,
) -> Result<Imported, ImportProblem> {
    run(builder::Builder::keeping(program), name, tensors)
}

fn run(builder: builder::Builder, name: &str, tensors: Tensors) -> Result<Imported, ImportProblem> {
    let imported = builder.run(name, tensors)?;
    ir::verify(&imported.graph)?;
    Ok(imported)
}
