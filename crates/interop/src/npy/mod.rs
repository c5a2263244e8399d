//! NumPy's `.npy` arrays, read as f32 or as the integers they are, and written as little-endian float32 or
//! int64 in C order.
//!
//! The reader is our own because a general one evaluates the header as a Python expression, to any depth and size;
//! the header of an array is a dictionary with three known keys and needs no more than `header.rs` reads.
//!
//! Read: float32 and float64 (rounded to nearest), all integers and bool (exactly, or refused), either byte order,
//! C and Fortran order, any rank up to [`MAX_RANK`].

use crate::{Budget, FileError, OverBudget, bounded};
use std::io;
use std::path::Path;

mod elements;
mod header;
mod texts;

/// Larger files are refused: 16 GiB.
pub const MAX_BYTES: u64 = 1 << 34;
/// NumPy itself allows no more axes.
pub const MAX_RANK: usize = 64;

/// An array of f32 in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The axes; empty for a single number.
    pub shape: Vec<usize>,
    /// The elements, the last axis fastest.
    pub values: Vec<f32>,
}

/// An array of numbers in C order: floats, or integers as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The axes; empty for a single number.
    pub shape: Vec<usize>,
    /// The elements, the last axis fastest.
    pub values: Values,
}

/// Elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats.
    F32(Vec<f32>),
    /// Integers and truth values.
    I64(Vec<i64>),
}

/// A file that cannot be read or written as an array.
pub type NpyError = FileError<Problem>;

/// A problem of an array file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file needs more memory than it may take.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The file is larger than [`MAX_BYTES`].
    #[error("has more than the {MAX_BYTES} bytes that are read")]
    TooLarge,
    /// The file does not start as an array does.
    #[error("is not a .npy file: it does not start with \\x93NUMPY")]
    NotNpy,
    /// The format version is unknown.
    #[error("has format version {0}.{1}; 1.0, 2.0 and 3.0 are known")]
    Version(u8, u8),
    /// The file ends within the header.
    #[error("ends within its header")]
    ShortHeader,
    /// The header is not the dictionary it should be.
    #[error("header at byte {at}: {message}")]
    Header {
        /// Offset in the file.
        at: usize,
        /// The problem.
        message: String,
    },
    /// The elements are of a type that is not read.
    #[error("dtype '{0}' is not read; save the array as float32")]
    DType(String),
    /// The shape and the length of the file disagree.
    #[error("has {got} bytes of elements; shape {shape:?} needs {expected}")]
    Length {
        /// The shape in the header.
        shape: Vec<usize>,
        /// The bytes it needs.
        expected: String,
        /// The bytes there are.
        got: usize,
    },
    /// An element has no f32 value.
    #[error("element {index} is {value}, which float32 cannot hold")]
    Element {
        /// Its place in the file.
        index: usize,
        /// Its value.
        value: String,
    },
    /// An element has no i64 value.
    #[error("element {index} is {value}, which int64 cannot hold")]
    Integer {
        /// Its place in the file.
        index: usize,
        /// Its value.
        value: u64,
    },
}

/// Reads an array.
pub fn read(path: &Path) -> Result<Array, NpyError> {
    let array = read_bytes(path).and_then(|bytes| decode(&bytes));
    array.map_err(|problem| NpyError {
        path: path.to_owned(),
        problem,
    })
}

/// Reads an array whose integers stay integers.
pub fn read_numbers(path: &Path) -> Result<Numbers, NpyError> {
    let array = read_bytes(path).and_then(|bytes| decode_numbers(&bytes));
    array.map_err(|problem| NpyError {
        path: path.to_owned(),
        problem,
    })
}

/// Writes an array; the file appears whole or not at all.
///
/// # Panics
/// If there are not as many values as the shape has elements.
pub fn write(path: &Path, shape: &[usize], values: &[f32]) -> Result<(), NpyError> {
    crate::write_file(path, &encode(shape, values)).map_err(|error| NpyError {
        path: path.to_owned(),
        problem: error.into(),
    })
}

/// An array of texts in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The axes.
    pub shape: Vec<usize>,
    /// The elements, the last axis fastest.
    pub values: Vec<String>,
}

/// The array of texts (`<U5`, `|S5`) that the bytes of a file are; `None` for an array of numbers.
pub(crate) fn decode_texts(bytes: &[u8], budget: &Budget) -> Result<Option<Texts>, Problem> {
    let (header, data) = header::parse(bytes)?;
    let Some(kind) = texts::Kind::parse(&header.descr) else {
        return Ok(None);
    };
    let n_elements = header
        .shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    let expected = n_elements.and_then(|n| n.checked_mul(kind.size()));
    if expected != Some(data.len()) || kind.size() == 0 {
        return Err(Problem::Length {
            shape: header.shape,
            expected: expected.map_or_else(|| "more".to_owned(), |n| n.to_string()),
            got: data.len(),
        });
    }
    // A text, its place in the list, and what the allocator adds to a small one.
    budget.take_array(data.len() / kind.size(), 2 * size_of::<String>())?;
    budget.take(data.len() as u64)?;
    Ok(Some(Texts {
        values: kind.texts(data)?,
        shape: header.shape,
    }))
}

/// The array that the bytes of a file are.
pub fn decode(bytes: &[u8]) -> Result<Array, Problem> {
    decode_within(bytes, &Budget::of_size(bytes.len() as u64))
}

/// The same, within a budget.
pub(crate) fn decode_within(bytes: &[u8], budget: &Budget) -> Result<Array, Problem> {
    let (header, dtype, data) = checked(bytes)?;
    budget.take_array(data.len() / dtype.size(), 2 * size_of::<f32>())?;
    let values = header.in_c_order(dtype.values(data)?);
    Ok(Array {
        shape: header.shape,
        values,
    })
}

/// The array that the bytes of a file are; integers stay integers.
pub fn decode_numbers(bytes: &[u8]) -> Result<Numbers, Problem> {
    decode_numbers_within(bytes, &Budget::of_size(bytes.len() as u64))
}

/// The same, within a budget.
pub(crate) fn decode_numbers_within(bytes: &[u8], budget: &Budget) -> Result<Numbers, Problem> {
    let (header, dtype, data) = checked(bytes)?;
    budget.take_array(data.len() / dtype.size(), size_of::<i64>())?;
    let values = if dtype.is_float() {
        Values::F32(header.in_c_order(dtype.values(data)?))
    } else {
        Values::I64(header.in_c_order(dtype.integers(data)?))
    };
    Ok(Numbers {
        shape: header.shape,
        values,
    })
}

/// The header, the type and the bytes of the elements, of which there are as many as the shape needs.
fn checked(bytes: &[u8]) -> Result<(header::Header, elements::DType, &[u8]), Problem> {
    let (header, data) = header::parse(bytes)?;
    let dtype = elements::DType::parse(&header.descr)?;
    let n_elements = header
        .shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    let expected = n_elements.and_then(|n| n.checked_mul(dtype.size()));
    if expected != Some(data.len()) {
        let expected = expected.map_or("more than memory holds".to_owned(), |n| n.to_string());
        return Err(Problem::Length {
            shape: header.shape,
            expected,
            got: data.len(),
        });
    }
    Ok((header, dtype, data))
}

impl header::Header {
    fn in_c_order<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        if self.fortran_order {
            elements::to_c_order(&values, &self.shape)
        } else {
            values
        }
    }
}

/// The bytes of a file that holds this array.
///
/// # Panics
/// If there are not as many values as the shape has elements.
pub fn encode(shape: &[usize], values: &[f32]) -> Vec<u8> {
    let n_elements: usize = shape.iter().product();
    assert_eq!(n_elements, values.len(), "shape {shape:?}");
    let mut bytes = header::print("<f4", shape);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The bytes of a file that holds this array as float32 or int64.
///
/// # Panics
/// If there are not as many values as the shape has elements.
pub fn encode_numbers(array: &Numbers) -> Vec<u8> {
    let values = match &array.values {
        Values::F32(values) => return encode(&array.shape, values),
        Values::I64(values) => values,
    };
    let n_elements: usize = array.shape.iter().product();
    assert_eq!(n_elements, values.len(), "shape {:?}", array.shape);
    let mut bytes = header::print("<i8", &array.shape);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    bounded::read(path, MAX_BYTES)?.ok_or(Problem::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory that an array of this type and shape is charged.
    fn charged(descr: &str, shape: &[usize], data: &[u8], read: impl Fn(&[u8], &Budget)) -> u64 {
        let budget = Budget::of_size(0);
        let bytes = [header::print(descr, shape), data.to_vec()].concat();
        read(&bytes, &budget);
        budget.max() - budget.left()
    }

    /// Elements as they are and as they become: floats twice, integers once, a text with its place and its bytes.
    #[test]
    fn elements_are_charged() {
        let floats = |bytes: &[u8], budget: &Budget| drop(decode_within(bytes, budget).unwrap());
        assert_eq!(charged("<f8", &[3], &[0; 24], floats), 3 * 8);
        assert_eq!(charged("|u1", &[3], &[0; 3], floats), 3 * 8);
        let numbers =
            |bytes: &[u8], budget: &Budget| drop(decode_numbers_within(bytes, budget).unwrap());
        assert_eq!(charged("<i8", &[3], &[0; 24], numbers), 3 * 8);
        assert_eq!(charged("|u1", &[3], &[0; 3], numbers), 3 * 8);
        let texts = |bytes: &[u8], budget: &Budget| {
            assert_eq!(
                decode_texts(bytes, budget).unwrap().unwrap().values.len(),
                2
            );
        };
        let place = 2 * size_of::<String>() as u64;
        assert_eq!(charged("|S5", &[2], b"dog\0\0catty", texts), 2 * place + 10);
    }
}
