//! Tensors with their values, from the fields in which a file may hold them and into raw bytes.

use super::element::Element;
use super::error::OnnxProblem;
use super::proto::TensorProto;
use crate::Budget;
use crate::dtype::{DType, f32_bytes};

/// The values of a tensor in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Fractions, each rounded to the nearest f32; 8-bit and 4-bit floats by their value.
    Floats(Vec<f32>),
    /// Integers, natural numbers and truth values.
    Ints(Vec<i64>),
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name; may be empty.
    pub name: String,
    /// The axes; empty for a single number.
    pub shape: Vec<usize>,
    /// The type that the file stores.
    pub element: Element,
    /// The values.
    pub values: Values,
}

impl Tensor {
    /// The tensor that a message holds.
    ///
    /// # Errors
    /// When its type has no numbers, a size is negative, or its data has another length than its shape.
    pub fn read(proto: &TensorProto, budget: &Budget) -> Result<Self, OnnxProblem> {
        let name = proto.name().to_owned();
        let refuse = |message: String| OnnxProblem::tensor(&name, message);
        let element = element_of(proto).map_err(refuse)?;
        let shape = shape_of(proto).map_err(refuse)?;
        let count = count_of(&shape).map_err(refuse)?;
        budget.take_array(count, 8)?;
        let values = match &proto.raw_data {
            Some(raw) => raw_values(raw, element, count),
            None => typed_values(proto, element),
        };
        let values = values.map_err(refuse)?;
        if values.len() != count {
            let (got, element) = (values.len(), element.name());
            return Err(refuse(format!(
                "has {got} elements of {element}, but its shape {shape:?} has {count}"
            )));
        }
        Ok(Self {
            name,
            shape,
            element,
            values,
        })
    }

    /// The message that holds the tensor in raw bytes.
    pub fn write(&self) -> TensorProto {
        let raw = match &self.values {
            Values::Floats(values) => f32_bytes(values),
            Values::Ints(values) => packed(values, self.element.bits()),
        };
        TensorProto {
            name: (!self.name.is_empty()).then(|| self.name.clone()),
            dims: self.shape.iter().map(|&size| size as i64).collect(),
            data_type: Some(self.element.code()),
            raw_data: Some(raw.into()),
            ..TensorProto::default()
        }
    }
}

impl Values {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Ints(values) => values.len(),
        }
    }

    /// True when there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn element_of(proto: &TensorProto) -> Result<Element, String> {
    let code = proto.data_type();
    let element =
        Element::of_code(code).ok_or_else(|| format!("has the unknown element type {code}"))?;
    if element.is_float() || element.is_integer() || element == Element::Bool {
        Ok(element)
    } else {
        Err(format!(
            "has elements of {}, which are not numbers",
            element.name()
        ))
    }
}

fn shape_of(proto: &TensorProto) -> Result<Vec<usize>, String> {
    let size =
        |&size: &i64| usize::try_from(size).map_err(|_| format!("has an axis of size {size}"));
    proto.dims.iter().map(size).collect()
}

fn count_of(shape: &[usize]) -> Result<usize, String> {
    let count = shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    let fits = count.filter(|&count| count <= isize::MAX as usize / 8);
    fits.ok_or_else(|| format!("has more elements than memory holds: {shape:?}"))
}

fn raw_values(raw: &[u8], element: Element, count: usize) -> Result<Values, String> {
    let bits = element.bits();
    let expected = (count as u128 * bits as u128).div_ceil(8);
    if raw.len() as u128 != expected {
        let (got, name) = (raw.len(), element.name());
        return Err(format!(
            "has {got} bytes, but {count} elements of {name} are {expected}"
        ));
    }
    Ok(match element {
        Element::F32 => Values::Floats(DType::F32.values(raw)),
        Element::F64 => Values::Floats(DType::F64.values(raw)),
        Element::F16 => Values::Floats(DType::F16.values(raw)),
        Element::BF16 => Values::Floats(DType::BF16.values(raw)),
        _ => {
            let ints = unpacked(raw, element, count);
            coded(ints, element)?
        }
    })
}

/// The values of the fields that are not raw bytes.
fn typed_values(proto: &TensorProto, element: Element) -> Result<Values, String> {
    use Element::{BF16, F16, F32, F64, I64, U32, U64};
    Ok(match element {
        F32 => Values::Floats(proto.float_data.clone()),
        F64 => Values::Floats(proto.double_data.iter().map(|&v| v as f32).collect()),
        F16 | BF16 => {
            let dtype = if element == F16 {
                DType::F16
            } else {
                DType::BF16
            };
            let bits = proto.int32_data.iter();
            Values::Floats(bits.map(|&v| dtype.value(&v.to_le_bytes())).collect())
        }
        I64 => Values::Ints(proto.int64_data.clone()),
        U32 | U64 => {
            let fits = |&v: &u64| {
                i64::try_from(v).map_err(|_| format!("has the element {v}, which is not an i64"))
            };
            Values::Ints(
                proto
                    .uint64_data
                    .iter()
                    .map(fits)
                    .collect::<Result<_, _>>()?,
            )
        }
        _ if element.bits() < 8 => {
            // Each number holds one byte of packed elements.
            let bytes: Vec<u8> = proto.int32_data.iter().map(|&v| v as u8).collect();
            let count = count_of(&shape_of(proto)?)?;
            if bytes.len() != (count * element.bits()).div_ceil(8) {
                return Ok(Values::Ints(vec![0; bytes.len()]));
            }
            coded(unpacked(&bytes, element, count), element)?
        }
        _ => coded(
            proto.int32_data.iter().map(|&v| i64::from(v)).collect(),
            element,
        )?,
    })
}

/// Codes as they are for integers, by their value for small floats.
fn coded(codes: Vec<i64>, element: Element) -> Result<Values, String> {
    if element.is_float() {
        let value = |code: i64| element.small_float(code as u8).unwrap_or(f32::NAN);
        return Ok(Values::Floats(codes.into_iter().map(value).collect()));
    }
    if element == Element::U64
        && let Some(code) = codes.iter().find(|&&code| code < 0)
    {
        return Err(format!(
            "has the element {}, which is not an i64",
            *code as u64
        ));
    }
    if element == Element::Bool {
        return Ok(Values::Ints(
            codes.into_iter().map(|code| i64::from(code != 0)).collect(),
        ));
    }
    Ok(Values::Ints(codes))
}

/// The elements in little-endian bytes; those of less than a byte fill it from its low bits on.
fn unpacked(raw: &[u8], element: Element, count: usize) -> Vec<i64> {
    let bits = element.bits();
    let is_signed = element.integer_range().is_some_and(|(min, _)| min < 0);
    let extend = |value: u64| {
        let shift = 64 - bits;
        if is_signed {
            ((value << shift) as i64) >> shift
        } else {
            value as i64
        }
    };
    if bits < 8 {
        let per_byte = 8 / bits;
        let mask = (1_u64 << bits) - 1;
        let at = |i: usize| u64::from(raw[i / per_byte]) >> (i % per_byte * bits) & mask;
        return (0..count).map(|i| extend(at(i))).collect();
    }
    let element = |bytes: &[u8]| {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        extend(u64::from_le_bytes(padded))
    };
    raw.chunks_exact(bits / 8).map(element).collect()
}

fn packed(values: &[i64], bits: usize) -> Vec<u8> {
    if bits >= 8 {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes().into_iter().take(bits / 8));
        return bytes.collect();
    }
    let mask = (1_u8 << bits) - 1;
    let byte = |group: &[i64]| {
        let parts = group.iter().enumerate();
        parts.fold(0, |byte, (i, &value)| {
            byte + ((value as u8 & mask) << (i * bits))
        })
    };
    values.chunks(8 / bits).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(element: Element, shape: &[usize], values: Values) -> Tensor {
        Tensor {
            name: "t".to_owned(),
            shape: shape.to_vec(),
            element,
            values,
        }
    }

    #[test]
    fn integers_of_every_width_come_back() {
        use Element::{Bool, I2, I4, I8, I16, I32, I64, U2, U4, U8, U16, U32, U64};
        for element in [I2, I4, I8, I16, I32, I64, U2, U4, U8, U16, U32, U64, Bool] {
            let (min, max) = element.integer_range().unwrap_or((0, 1));
            let values = Values::Ints(vec![min, max, 0, 1, min]);
            let written = tensor(element, &[5], values);
            let read = Tensor::read(&written.write(), &Budget::of_size(100)).unwrap();
            assert_eq!(read, written);
        }
    }

    #[test]
    fn floats_come_back() {
        let values = Values::Floats(vec![1.5, -0.0, f32::MIN_POSITIVE, 3e38]);
        let written = tensor(Element::F32, &[2, 2], values);
        assert_eq!(
            Tensor::read(&written.write(), &Budget::of_size(100)).unwrap(),
            written
        );
    }

    #[test]
    fn wrong_sizes_are_errors_with_the_tensor() {
        type Change<'c> = &'c dyn Fn(&mut TensorProto);
        let good = tensor(Element::F32, &[2], Values::Floats(vec![1.0, 2.0])).write();
        let with = |change: &dyn Fn(&mut TensorProto)| {
            let mut proto = good.clone();
            change(&mut proto);
            Tensor::read(&proto, &Budget::of_size(100))
                .unwrap_err()
                .to_string()
        };
        let cases: [(Change, &str); 6] = [
            (
                &|p| p.dims = vec![3],
                "has 8 bytes, but 3 elements of float are 12",
            ),
            (&|p| p.dims = vec![-1], "has an axis of size -1"),
            (
                &|p| p.dims = vec![1 << 31, 1 << 31],
                "has more elements than memory holds: [2147483648, 2147483648]",
            ),
            (
                &|p| p.data_type = Some(8),
                "has elements of string, which are not numbers",
            ),
            (
                &|p| p.data_type = Some(77),
                "has the unknown element type 77",
            ),
            (
                &|p| p.raw_data = None,
                "has 0 elements of float, but its shape [2] has 2",
            ),
        ];
        for (change, message) in cases {
            assert_eq!(with(change), format!("tensor 't': {message}"));
        }
        let huge = with(&|p| p.dims = vec![1 << 40]);
        assert!(huge.starts_with("needs more than the 256 MB"), "{huge}");
    }
}
