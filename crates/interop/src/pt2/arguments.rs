//! Arguments of calls, each an object with one entry that says what it is.

use serde_json::Value as Json;

/// A size or an integer: a number, or the name of one that depends on the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A number.
    Number(i64),
    /// The name of an integer that a call makes, or the expression of a free size.
    Name(String),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Nothing.
    None,
    /// A tensor, by the name of its value.
    Tensor(String),
    /// Several tensors, some of which may be left out.
    Tensors(Vec<Option<String>>),
    /// An integer.
    Int(Extent),
    /// Several integers.
    Ints(Vec<Extent>),
    /// A number with a fraction.
    Float(f64),
    /// Several numbers with fractions.
    Floats(Vec<f64>),
    /// A truth value.
    Bool(bool),
    /// Several truth values.
    Bools(Vec<bool>),
    /// A word.
    Text(String),
    /// An element type, by its number.
    ScalarType(u64),
    /// Something that changes no number: a device, a layout, an order in memory.
    Placement,
    /// Something else, by the name of its entry.
    Other(String),
}

impl Argument {
    /// The argument that a JSON value describes.
    pub(super) fn read(json: &Json) -> Option<Self> {
        let (kind, value) = json.as_object()?.iter().next()?;
        Some(match kind.as_str() {
            "as_none" => Self::None,
            "as_tensor" | "as_optional_tensor" => match name(value) {
                Some(name) => Self::Tensor(name),
                None => Self::read(value)?,
            },
            "as_tensors" => Self::Tensors(list(value, |item| Some(Some(name(item)?)))?),
            "as_optional_tensors" => Self::Tensors(list(value, |item| match Self::read(item)? {
                Self::Tensor(name) => Some(Some(name)),
                Self::None => Some(None),
                _ => None,
            })?),
            "as_int" | "as_sym_int" => Self::Int(Extent::read(value)?),
            "as_ints" | "as_sym_ints" => Self::Ints(list(value, Extent::read)?),
            "as_float" => Self::Float(float(value)?),
            "as_floats" => Self::Floats(list(value, float)?),
            "as_sym_float" => Self::Float(float(value.get("as_float")?)?),
            "as_bool" => Self::Bool(value.as_bool()?),
            "as_sym_bool" => Self::Bool(value.get("as_bool")?.as_bool()?),
            "as_bools" => Self::Bools(list(value, Json::as_bool)?),
            "as_string" => Self::Text(value.as_str()?.to_owned()),
            "as_scalar_type" => Self::ScalarType(value.as_u64()?),
            "as_device" | "as_layout" | "as_memory_format" => Self::Placement,
            other => Self::Other(other.to_owned()),
        })
    }

    /// The names of the values that it reads.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (tensor, tensors, extents) = match self {
            Self::Tensor(name) => (Some(name), &[][..], &[][..]),
            Self::Tensors(names) => (None, names.as_slice(), &[][..]),
            Self::Int(extent) => (None, &[][..], std::slice::from_ref(extent)),
            Self::Ints(extents) => (None, &[][..], extents.as_slice()),
            _ => (None, &[][..], &[][..]),
        };
        let extents = extents.iter().filter_map(|extent| match extent {
            Extent::Name(name) => Some(name),
            Extent::Number(_) => None,
        });
        let names = tensor.into_iter().chain(tensors.iter().flatten());
        names.chain(extents).map(String::as_str)
    }

    /// The names of the results that an entry of a call's outputs lists.
    pub(super) fn results(json: &Json) -> Option<Vec<Option<String>>> {
        Some(match Self::read(json)? {
            Self::Tensor(name) | Self::Int(Extent::Name(name)) => vec![Some(name)],
            Self::Tensors(names) => names,
            _ => vec![None],
        })
    }
}

impl Extent {
    /// A number, or an object with one entry: a number, a name, an expression.
    pub(super) fn read(json: &Json) -> Option<Self> {
        if let Some(number) = json.as_i64() {
            return Some(Self::Number(number));
        }
        let (kind, value) = json.as_object()?.iter().next()?;
        match kind.as_str() {
            "as_int" => Some(Self::Number(value.as_i64()?)),
            "as_name" => Some(Self::Name(value.as_str()?.to_owned())),
            "as_expr" => Some(Self::Name(value.get("expr_str")?.as_str()?.to_owned())),
            _ => None,
        }
    }
}

fn name(json: &Json) -> Option<String> {
    Some(json.get("name")?.as_str()?.to_owned())
}

fn list<T>(json: &Json, read: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    json.as_array()?.iter().map(read).collect()
}

/// JSON has no infinity; the description writes it as text.
fn float(json: &Json) -> Option<f64> {
    match json.as_str() {
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some("NaN") => Some(f64::NAN),
        Some(_) => None,
        None => json.as_f64(),
    }
}
