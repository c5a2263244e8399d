//! From the bytes of elements of many types to f32.

use super::Problem;

/// A type of elements and its byte order.
#[derive(Clone, Copy, Debug)]
pub struct DType {
    kind: Kind,
    size: usize,
    is_big_endian: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

impl DType {
    /// The type that a header calls `<f4`, `>i8`, `|b1`, …
    pub fn parse(descr: &str) -> Result<Self, Problem> {
        let unknown = || Problem::DType(descr.to_owned());
        let (order, name) = descr.split_at_checked(1).ok_or_else(unknown)?;
        let is_big_endian = match order {
            "<" | "|" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => return Err(unknown()),
        };
        let (kind, size) = match name {
            "f4" => (Kind::Float, 4),
            "f8" => (Kind::Float, 8),
            "i1" => (Kind::Signed, 1),
            "i2" => (Kind::Signed, 2),
            "i4" => (Kind::Signed, 4),
            "i8" => (Kind::Signed, 8),
            "u1" => (Kind::Unsigned, 1),
            "u2" => (Kind::Unsigned, 2),
            "u4" => (Kind::Unsigned, 4),
            "u8" => (Kind::Unsigned, 8),
            "b1" => (Kind::Bool, 1),
            _ => return Err(unknown()),
        };
        Ok(Self {
            kind,
            size,
            is_big_endian,
        })
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.size
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float)
    }

    /// Every element of an integer or truth type.
    pub fn integers(self, data: &[u8]) -> Result<Vec<i64>, Problem> {
        let elements = data.chunks_exact(self.size).enumerate();
        elements
            .map(|(index, bytes)| match self.kind {
                Kind::Signed => Ok(self.signed(bytes)),
                Kind::Bool => Ok(i64::from(bytes[0] != 0)),
                Kind::Unsigned | Kind::Float => {
                    let value = self.word(bytes);
                    i64::try_from(value).map_err(|_| Problem::Integer { index, value })
                }
            })
            .collect()
    }

    /// Every element as f32.
    pub fn values(self, data: &[u8]) -> Result<Vec<f32>, Problem> {
        let elements = data.chunks_exact(self.size);
        match (self.kind, self.size) {
            (Kind::Float, 4) => Ok(elements
                .map(|bytes| f32::from_bits(self.word(bytes) as u32))
                .collect()),
            (Kind::Float, _) => rounded(elements.map(|bytes| f64::from_bits(self.word(bytes)))),
            (Kind::Signed, _) => exact(elements.map(|bytes| i128::from(self.signed(bytes)))),
            (Kind::Unsigned, _) => exact(elements.map(|bytes| i128::from(self.word(bytes)))),
            (Kind::Bool, _) => Ok(elements.map(|bytes| f32::from(bytes[0] != 0)).collect()),
        }
    }

    fn word(self, bytes: &[u8]) -> u64 {
        let join = |word: u64, &byte: &u8| (word << 8) + u64::from(byte);
        if self.is_big_endian {
            bytes.iter().fold(0, join)
        } else {
            bytes.iter().rev().fold(0, join)
        }
    }

    fn signed(self, bytes: &[u8]) -> i64 {
        let unused = 64 - 8 * bytes.len() as u32;
        (self.word(bytes) << unused) as i64 >> unused
    }
}

/// Rounding is no loss that matters, but a finite number must not become infinite.
fn rounded(elements: impl Iterator<Item = f64>) -> Result<Vec<f32>, Problem> {
    let convert = |(index, value): (usize, f64)| {
        let rounded = value as f32;
        if rounded.is_infinite() && value.is_finite() {
            let value = format!("{value:e}");
            return Err(Problem::Element { index, value });
        }
        Ok(rounded)
    };
    elements.enumerate().map(convert).collect()
}

/// Integers name things, and names must not change.
fn exact(elements: impl Iterator<Item = i128>) -> Result<Vec<f32>, Problem> {
    let convert = |(index, value): (usize, i128)| {
        let rounded = value as f32;
        if rounded as i128 != value {
            let value = value.to_string();
            return Err(Problem::Element { index, value });
        }
        Ok(rounded)
    };
    elements.enumerate().map(convert).collect()
}

/// The elements of an array whose first axis is the fastest, with the last one fastest.
pub fn to_c_order<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for size in shape {
        strides.push(stride);
        stride *= size;
    }
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    let mut ordered = Vec::with_capacity(values.len());
    for _ in values {
        ordered.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    ordered
}
