//! Number types of stored tensors, and their values as f32.

/// The storage format of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
}

use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// Every type: the storage class of PyTorch, the dtype of PyTorch, the word in safetensors.
const NAMES: &[(DType, &str, &str, &str)] = &[
    (F64, "DoubleStorage", "float64", "F64"),
    (F32, "FloatStorage", "float32", "F32"),
    (F16, "HalfStorage", "float16", "F16"),
    (BF16, "BFloat16Storage", "bfloat16", "BF16"),
    (I64, "LongStorage", "int64", "I64"),
    (I32, "IntStorage", "int32", "I32"),
    (I16, "ShortStorage", "int16", "I16"),
    (I8, "CharStorage", "int8", "I8"),
    (U64, "", "uint64", "U64"),
    (U32, "", "uint32", "U32"),
    (U16, "", "uint16", "U16"),
    (U8, "ByteStorage", "uint8", "U8"),
    (Bool, "BoolStorage", "bool", "BOOL"),
];

impl DType {
    /// The type of a storage class, `FloatStorage`.
    pub fn of_storage(class: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|row| row.1 == class && !class.is_empty())
            .map(|row| row.0)
    }

    /// The type of a dtype of PyTorch, `float32`.
    pub fn of_torch(name: &str) -> Option<Self> {
        NAMES.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// The type by its word in safetensors, `F32`.
    pub fn of_safetensors(word: &str) -> Option<Self> {
        NAMES.iter().find(|row| row.3 == word).map(|row| row.0)
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            F64 | I64 | U64 => 8,
            F32 | I32 | U32 => 4,
            F16 | BF16 | I16 | U16 => 2,
            I8 | U8 | Bool => 1,
        }
    }

    /// The little-endian element that starts these bytes, rounded to the nearest f32.
    pub fn value(self, bytes: &[u8]) -> f32 {
        let mut padded = [0; 8];
        padded[..self.size()].copy_from_slice(&bytes[..self.size()]);
        let bits = u64::from_le_bytes(padded);
        match self {
            F64 => f64::from_bits(bits) as f32,
            F32 => f32::from_bits(bits as u32),
            F16 => half(bits as u16),
            BF16 => f32::from_bits((bits as u32) << 16),
            I64 => bits as i64 as f32,
            I32 => bits as i32 as f32,
            I16 => f32::from(bits as i16),
            I8 => f32::from(bits as i8),
            U64 | U32 | U16 | U8 => bits as f32,
            Bool => f32::from(u8::from(bits != 0)),
        }
    }

    /// The little-endian elements in a row; bytes beyond the last whole one are left.
    pub fn values(self, bytes: &[u8]) -> Vec<f32> {
        if self == F32 {
            let (elements, _) = bytes.as_chunks::<4>();
            return elements
                .iter()
                .map(|&element| f32::from_le_bytes(element))
                .collect();
        }
        bytes
            .chunks_exact(self.size())
            .map(|element| self.value(element))
            .collect()
    }
}

/// The values as little-endian float32.
pub fn f32_bytes(values: &[f32]) -> Vec<u8> {
    let bytes: Vec<[u8; 4]> = values.iter().map(|value| value.to_le_bytes()).collect();
    bytes.into_flattened()
}

/// IEEE binary16: every value is one of f32.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_every_type() {
        let cases: &[(DType, &[u8], f32)] = &[
            (F64, &0.1_f64.to_le_bytes(), 0.1),
            (F32, &(-2.5_f32).to_le_bytes(), -2.5),
            (F16, &0x3c01_u16.to_le_bytes(), 1.000_976_6),
            (F16, &0x8001_u16.to_le_bytes(), -5.960_464_5e-8),
            (F16, &0x7bff_u16.to_le_bytes(), 65504.0),
            (F16, &0xfc00_u16.to_le_bytes(), f32::NEG_INFINITY),
            (BF16, &0x3f80_u16.to_le_bytes(), 1.0),
            (I64, &(-3_i64).to_le_bytes(), -3.0),
            (I32, &(-3_i32).to_le_bytes(), -3.0),
            (I16, &(-3_i16).to_le_bytes(), -3.0),
            (I8, &[0xfd], -3.0),
            (U64, &u64::MAX.to_le_bytes(), 18_446_744_073_709_551_615.0),
            (U8, &[0xfd], 253.0),
            (Bool, &[1], 1.0),
        ];
        for (dtype, bytes, value) in cases {
            assert_eq!(dtype.value(bytes), *value, "{dtype:?}");
            assert_eq!(dtype.values(bytes), [*value], "{dtype:?}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
