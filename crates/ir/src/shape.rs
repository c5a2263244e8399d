//! Types of values: shapes whose dims are numbers or multiples of a symbol, and element types.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::sync::Arc;

/// The element type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    /// 32-bit float.
    F32,
    /// 64-bit integer: indices.
    I64,
    /// Truth value: masks.
    Bool,
}

impl DType {
    /// Every element type with its name in the text form and the name the labs print.
    pub const TABLE: &[(Self, &'static str, &'static str)] = &[
        (Self::F32, "f32", "torch.float32"),
        (Self::I64, "i64", "torch.int64"),
        (Self::Bool, "bool", "torch.bool"),
    ];

    /// The element type called `name` in the text form.
    pub fn parse(name: &str) -> Option<Self> {
        Self::TABLE
            .iter()
            .find(|(_, short, _)| *short == name)
            .map(|(dtype, ..)| *dtype)
    }

    /// The name the labs print, `torch.float32`.
    pub fn torch_name(self) -> &'static str {
        Self::TABLE[self as usize].2
    }
}

/// Borrowed elements of an array, in row-major order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Floats.
    F32(&'a [f32]),
    /// Integers.
    I64(&'a [i64]),
}

impl Elements<'_> {
    /// The element type.
    pub fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::I64(_) => DType::I64,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(Self::TABLE[*self as usize].1)
    }
}

/// One axis: a number, or a multiple of a symbol that is bound when a plan is made (`N`, `64*N`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// The number, or what the symbol is multiplied by.
    pub factor: usize,
    /// The symbol, if any.
    pub symbol: Option<Arc<str>>,
}

impl Dim {
    /// The dim that is just the symbol `name`.
    pub fn symbol(name: &str) -> Self {
        Self {
            factor: 1,
            symbol: Some(name.into()),
        }
    }

    /// The number, when there is no symbol.
    pub fn fixed(&self) -> Option<usize> {
        self.symbol.is_none().then_some(self.factor)
    }

    /// The size once every symbol is `batch`, or `None` when it does not fit a `usize`.
    pub fn bind(&self, batch: usize) -> Option<usize> {
        match self.symbol {
            None => Some(self.factor),
            Some(_) => self.factor.checked_mul(batch),
        }
    }

    /// The product of two dims; symbols do not multiply.
    pub fn times(&self, other: &Self) -> Result<Self, ShapeError> {
        let factor = self
            .factor
            .checked_mul(other.factor)
            .ok_or(ShapeError::TooLarge)?;
        let symbol = match (&self.symbol, &other.symbol) {
            (Some(a), Some(b)) => {
                return Err(ShapeError::SymbolProduct(a.to_string(), b.to_string()));
            }
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        Ok(Self { factor, symbol })
    }
}

impl From<usize> for Dim {
    fn from(factor: usize) -> Self {
        Self {
            factor,
            symbol: None,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.symbol {
            None => write!(f, "{}", self.factor),
            Some(s) if self.factor == 1 => f.write_str(s),
            Some(s) => write!(f, "{}*{s}", self.factor),
        }
    }
}

impl std::str::FromStr for Dim {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let bad = || ShapeError::BadDim(text.to_owned());
        let (factor, symbol) = text.split_once('*').unwrap_or(("1", text));
        if let Ok(n) = text.trim().parse::<usize>() {
            return Ok(n.into());
        }
        let symbol = symbol.trim();
        if !crate::verify::is_identifier(symbol) {
            return Err(bad());
        }
        Ok(Self {
            factor: factor.trim().parse().map_err(|_| bad())?,
            symbol: Some(symbol.into()),
        })
    }
}

impl Serialize for Dim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.fixed() {
            Some(n) => serializer.serialize_u64(n as u64),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Dim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Number(usize),
            Text(String),
        }
        match Raw::deserialize(deserializer)
            .map_err(|_| de::Error::custom("a dim is a number or a symbol such as N or 4*N"))?
        {
            Raw::Number(n) => Ok(n.into()),
            Raw::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

/// The axes of a value, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<Dim>);

impl Shape {
    /// A shape of plain numbers.
    pub fn of(sizes: &[usize]) -> Self {
        Self(sizes.iter().map(|&n| n.into()).collect())
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements, as a multiple of at most one symbol.
    pub fn numel(&self) -> Result<Dim, ShapeError> {
        self.0.iter().try_fold(Dim::from(1), |n, d| n.times(d))
    }

    /// The sizes once every symbol is `batch`; `None` when an axis or the whole does not fit in memory at all.
    pub fn bind(&self, batch: usize) -> Option<Vec<usize>> {
        let sizes: Vec<usize> = self
            .0
            .iter()
            .map(|d| d.bind(batch))
            .collect::<Option<_>>()?;
        sizes
            .iter()
            .try_fold(1_usize, |n, &d| n.checked_mul(d))
            .filter(|&n| n <= isize::MAX as usize / 4)?;
        Some(sizes)
    }

    /// `axis` as an index: negative axes count from the end, as in PyTorch.
    pub fn axis(&self, axis: i64) -> Result<usize, ShapeError> {
        let rank = self.rank() as i64;
        let index = if axis < 0 { axis + rank } else { axis };
        if (0..rank).contains(&index) {
            Ok(index as usize)
        } else {
            Err(ShapeError::Axis(axis, self.clone()))
        }
    }

    /// The shape two operands broadcast to, by NumPy's rule.
    pub fn broadcast(&self, other: &Self) -> Result<Self, ShapeError> {
        let rank = self.rank().max(other.rank());
        let one = Dim::from(1);
        let at = |s: &Self, i: usize| {
            (i + s.rank())
                .checked_sub(rank)
                .map_or(one.clone(), |k| s.0[k].clone())
        };
        (0..rank)
            .map(|i| match (at(self, i), at(other, i)) {
                (a, b) if a == b => Ok(a),
                (a, b) if b == one => Ok(a),
                (a, b) if a == one => Ok(b),
                _ => Err(ShapeError::Broadcast(self.clone(), other.clone())),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let dims: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "[{}]", dims.join(", "))
    }
}

/// Shape and element type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The axes.
    pub shape: Shape,
    /// The element type.
    pub dtype: DType,
}

impl Type {
    /// An f32 value of this shape.
    pub fn f32(shape: Shape) -> Self {
        Self {
            shape,
            dtype: DType::F32,
        }
    }

    /// A value of the same type with other axes.
    #[must_use]
    pub fn with_shape(&self, shape: Shape) -> Self {
        let dtype = self.dtype;
        Self { shape, dtype }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

impl std::str::FromStr for Type {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let bad = || ShapeError::BadType(text.to_owned());
        let (dtype, dims) = text.split_once('[').ok_or_else(bad)?;
        let dtype = DType::parse(dtype.trim()).ok_or_else(bad)?;
        let dims = dims.trim().strip_suffix(']').ok_or_else(bad)?.trim();
        let dims: Result<Vec<Dim>, ShapeError> = match dims {
            "" => Ok(Vec::new()),
            dims => dims.split(',').map(|dim| dim.trim().parse()).collect(),
        };
        Ok(Self {
            shape: Shape(dims?),
            dtype,
        })
    }
}

/// The reason why shapes do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Not a number, a symbol or a multiple of one.
    #[error("'{0}' is not a dim: write a number, a symbol such as N, or 4*N")]
    BadDim(String),
    /// Not an element type with axes.
    #[error("'{0}' is not a type: write f32, i64 or bool and axes, as in f32[N, 3]")]
    BadType(String),
    /// A dim would be the product of two symbols.
    #[error("a dim cannot be a product of symbols ({0}·{1})")]
    SymbolProduct(String, String),
    /// More elements than a `usize` counts.
    #[error("the number of elements overflows")]
    TooLarge,
    /// An axis that the shape does not have.
    #[error("axis {0} is out of range for shape {1}")]
    Axis(i64, Shape),
    /// Two shapes that do not broadcast.
    #[error("shapes {0} and {1} do not broadcast")]
    Broadcast(Shape, Shape),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Shape(
            text.split(',')
                .filter(|s| !s.trim().is_empty())
                .map(|s| s.trim().parse().unwrap())
                .collect(),
        )
    }

    #[test]
    fn dims_print_and_parse_back() {
        for text in ["16", "N", "64*N"] {
            assert_eq!(text.parse::<Dim>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "N*64", "2*3", "N M", "*N"] {
            assert!(text.parse::<Dim>().is_err(), "{text}");
        }
    }

    #[test]
    fn types_print_and_parse_back() {
        for text in ["f32[N, 3]", "i64[]", "bool[2*N]"] {
            assert_eq!(text.parse::<Type>().unwrap().to_string(), text);
        }
        for text in ["f32", "f16[3]", "f32[3", "f32[3,,4]", "f32[-1]"] {
            assert!(text.parse::<Type>().is_err(), "{text}");
        }
    }

    #[test]
    fn broadcasting_follows_numpy() {
        let cases = [
            ("N, 3, 4", "3, 1", "N, 3, 4"),
            ("4", "N, 4", "N, 4"),
            ("", "5", "5"),
        ];
        for (a, b, expected) in cases {
            assert_eq!(shape(a).broadcast(&shape(b)), Ok(shape(expected)));
            assert_eq!(shape(b).broadcast(&shape(a)), Ok(shape(expected)));
        }
        assert!(shape("N, 3").broadcast(&shape("N, 4")).is_err());
        assert!(shape("N").broadcast(&shape("3")).is_err());
    }

    #[test]
    fn binding_rejects_what_no_memory_holds() {
        assert_eq!(shape("N, 16").bind(8), Some(vec![8, 16]));
        assert_eq!(shape("N, 16").bind(usize::MAX / 2), None);
        // Four bytes for each element, and no more than half of the addresses.
        let most = isize::MAX as usize / 4;
        assert_eq!(shape("N").bind(most), Some(vec![most]));
        assert_eq!(shape("N").bind(most + 1), None);
        assert_eq!(shape("2*N, 3").bind(5), Some(vec![10, 3]));
    }

    #[test]
    fn elements_have_a_type_and_a_number() {
        let floats = Elements::F32(&[0.5, 1.5, 2.5]);
        assert_eq!((floats.dtype(), floats.len()), (DType::F32, 3));
        let numbers = Elements::I64(&[1, 2]);
        assert_eq!((numbers.dtype(), numbers.len()), (DType::I64, 2));
        assert!(!floats.is_empty() && Elements::F32(&[]).is_empty());
    }

    #[test]
    fn negative_axes_count_from_the_end() {
        let shape = shape("N, 3, 4");
        let axes: Vec<Option<usize>> = (-4..=3).map(|axis| shape.axis(axis).ok()).collect();
        let (a, b, c) = (Some(0), Some(1), Some(2));
        assert_eq!(axes, [None, a, b, c, a, b, c, None]);
    }

    #[test]
    fn dims_multiply_but_for_two_symbols() {
        let dim = |text: &str| text.parse::<Dim>().unwrap();
        assert_eq!(dim("3").times(&dim("4*N")), Ok(dim("12*N")));
        assert_eq!(dim("4*N").times(&dim("3")), Ok(dim("12*N")));
        let error = dim("2*N").times(&dim("M")).unwrap_err();
        assert_eq!(
            error,
            ShapeError::SymbolProduct("N".to_owned(), "M".to_owned())
        );
        assert_eq!(
            dim("4").times(&usize::MAX.into()),
            Err(ShapeError::TooLarge)
        );
        assert_eq!(shape("N, 3, 4").numel(), Ok(dim("12*N")));
        assert_eq!((dim("12").fixed(), dim("12*N").fixed()), (Some(12), None));
    }
}
