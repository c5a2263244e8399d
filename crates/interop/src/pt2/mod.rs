//! PyTorch's exported programs, `.pt2`: the calls of a network as data, and its tensors.
//!
//! Two layouts are read: one description and pickled tensors, as PyTorch 2.5 to 2.7 write them, and the archive with
//! `models/*.json` and raw tensors of later releases. Nothing of a file is executed, and fields that are not known are passed
//! over.

mod arguments;
mod schema;
mod tensors;

use crate::archive::{Archive, ZIP_START};
use crate::error::{InteropError, Problem};
use crate::{Budget, checkpoint};
use std::collections::BTreeMap;
use std::path::Path;

pub use arguments::{Argument, Extent};

/// A network as PyTorch exports it: calls of operators on named values, in execution order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The values that the calls start from, in order.
    pub inputs: Vec<Input>,
    /// The calls.
    pub calls: Vec<Call>,
    /// The results of the network.
    pub outputs: Vec<Argument>,
    /// The types of tensors, by the name of the value.
    pub types: BTreeMap<String, TensorType>,
}

/// A value that a program starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name of the value.
    pub value: String,
    /// Its origin.
    pub kind: InputKind,
}

/// The origin of a value that a program starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// An argument of the network.
    User,
    /// A trained tensor, by its dotted name.
    Parameter(String),
    /// A tensor that is not trained, by its dotted name.
    Buffer(String),
    /// Something else.
    Other(String),
}

/// A call of an operator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The operator and its overload, `aten.linear.default`.
    pub target: String,
    /// The arguments by name, those with their default values left out.
    pub arguments: Vec<(String, Argument)>,
    /// The names of the results; `None` for one that nobody reads.
    pub results: Vec<Option<String>>,
    /// The dotted path of the module that calls it; empty for the network itself.
    pub module: String,
    /// The layer that makes it.
    pub layer: Option<Layer>,
}

/// One run of a layer of `torch.nn`, which is one call or several that follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// A key that every run has of its own.
    pub run: String,
    /// The stem of the names of its nodes.
    pub name: String,
    /// The dotted path of the layer; empty for a function.
    pub path: String,
}

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorType {
    /// The element type.
    pub dtype: ScalarType,
    /// The axes.
    pub sizes: Vec<Extent>,
}

macro_rules! scalar_types {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $word:literal;)*) => {
        /// The element type of a tensor, with the numbers that the description has for them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ScalarType { $($(#[$doc])* $name,)* }

        impl ScalarType {
            const TABLE: &[(Self, u64, &'static str)] = &[$((Self::$name, $number, $word)),*];
        }
    };
}

scalar_types! {
    /// 8-bit integer without a sign.
    U8 = 1, "uint8";
    /// 8-bit integer.
    I8 = 2, "int8";
    /// 16-bit integer.
    I16 = 3, "int16";
    /// 32-bit integer.
    I32 = 4, "int32";
    /// 64-bit integer.
    I64 = 5, "int64";
    /// 16-bit float.
    F16 = 6, "float16";
    /// 32-bit float.
    F32 = 7, "float32";
    /// 64-bit float.
    F64 = 8, "float64";
    /// Truth value.
    Bool = 12, "bool";
    /// 16-bit float with the range of 32 bits.
    BF16 = 13, "bfloat16";
}

impl ScalarType {
    /// The type with this number.
    pub fn of_number(number: u64) -> Option<Self> {
        let row = Self::TABLE.iter().find(|row| row.1 == number)?;
        Some(row.0)
    }

    /// The type that PyTorch calls so, `float32`.
    pub fn of_name(name: &str) -> Option<Self> {
        let row = Self::TABLE.iter().find(|row| row.2 == name)?;
        Some(row.0)
    }

    /// PyTorch's name, `float32`.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].2
    }

    /// True for numbers with a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64 | Self::BF16)
    }
}

/// A tensor of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The axes.
    pub shape: Vec<usize>,
    /// The type in the file; `None` where only the program knows it.
    pub dtype: Option<ScalarType>,
    /// The elements in row-major order, integers and truth values as numbers.
    pub values: Vec<f32>,
}

/// The tensors of a program, by dotted name.
pub type Tensors = BTreeMap<String, Stored>;

/// Reads a program and its tensors.
///
/// # Errors
/// When the file is not a whole exported program.
pub fn read(path: &Path) -> Result<(Program, Tensors), InteropError> {
    let read = checkpoint::read_bytes(path).and_then(|bytes| decode(&bytes));
    read.map_err(|problem| InteropError {
        path: path.to_owned(),
        problem,
    })
}

/// The program and the tensors that the bytes of a file are.
///
/// # Errors
/// When they are not a whole exported program.
pub fn decode(bytes: &[u8]) -> Result<(Program, Tensors), Problem> {
    if !bytes.starts_with(ZIP_START) {
        let start = checkpoint::first_bytes(bytes);
        return Err(Problem::NoProgram { start });
    }
    let budget = Budget::of_size(bytes.len() as u64);
    let mut archive = Archive::open(bytes, &budget)?;
    let layout = Layout::of(&archive)?;
    let text = archive.read_text(&layout.program)?;
    // Names and numbers of the description are copied out of it.
    budget.take_array(text.len(), 8)?;
    let program = schema::program(&layout.program, &text)?;
    let tensors = tensors::read(&mut archive, &layout, &budget)?;
    Ok((program, tensors))
}

/// The entries of an archive.
struct Layout {
    /// The description.
    program: String,
    /// The folder of everything.
    prefix: String,
    /// The name of the model; empty in the older layout.
    model: String,
}

impl Layout {
    fn of(archive: &Archive) -> Result<Self, Problem> {
        let old = "serialized_exported_program.json";
        for name in archive.names() {
            if let Some(prefix) = name.strip_suffix(old) {
                return Ok(Self {
                    program: name.to_string(),
                    prefix: prefix.to_owned(),
                    model: String::new(),
                });
            }
            let Some((prefix, model)) = name.split_once("models/") else {
                continue;
            };
            if let Some(model) = model.strip_suffix(".json").filter(|m| !m.contains('/')) {
                return Ok(Self {
                    program: name.to_string(),
                    prefix: prefix.to_owned(),
                    model: model.to_owned(),
                });
            }
        }
        let message = "has neither models/*.json nor serialized_exported_program.json, so it is not an exported program; write one with torch.export.save";
        Err(Problem::part("zip archive", message))
    }
}

#[cfg(test)]
mod tests;
