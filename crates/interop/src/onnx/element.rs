//! Element types of tensors.

/// The storage type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// 32-bit float.
    F32,
    /// 8-bit natural number.
    U8,
    /// 8-bit integer.
    I8,
    /// 16-bit natural number.
    U16,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// A string.
    Text,
    /// Truth value.
    Bool,
    /// IEEE half precision.
    F16,
    /// 64-bit float.
    F64,
    /// 32-bit natural number.
    U32,
    /// 64-bit natural number.
    U64,
    /// A pair of 32-bit floats.
    Complex64,
    /// A pair of 64-bit floats.
    Complex128,
    /// The upper half of a 32-bit float.
    BF16,
    /// 8-bit float of 4 and 3 bits, without infinities.
    F8E4M3,
    /// The same without a negative zero.
    F8E4M3Uz,
    /// 8-bit float of 5 and 2 bits.
    F8E5M2,
    /// The same without a negative zero and infinities.
    F8E5M2Uz,
    /// 4-bit natural number.
    U4,
    /// 4-bit integer.
    I4,
    /// 4-bit float of 2 and 1 bits.
    F4E2M1,
    /// 8-bit power of two.
    F8E8M0,
    /// 2-bit natural number.
    U2,
    /// 2-bit integer.
    I2,
}

use Element::{
    BF16, Bool, Complex64, Complex128, F4E2M1, F8E4M3, F8E4M3Uz, F8E5M2, F8E5M2Uz, F8E8M0, F16,
    F32, F64, I2, I4, I8, I16, I32, I64, Text, U2, U4, U8, U16, U32, U64,
};

/// Every type: its number in files, its name in the specification, its bits.
const TABLE: &[(Element, i32, &str, usize)] = &[
    (F32, 1, "float", 32),
    (U8, 2, "uint8", 8),
    (I8, 3, "int8", 8),
    (U16, 4, "uint16", 16),
    (I16, 5, "int16", 16),
    (I32, 6, "int32", 32),
    (I64, 7, "int64", 64),
    (Text, 8, "string", 0),
    (Bool, 9, "bool", 8),
    (F16, 10, "float16", 16),
    (F64, 11, "double", 64),
    (U32, 12, "uint32", 32),
    (U64, 13, "uint64", 64),
    (Complex64, 14, "complex64", 64),
    (Complex128, 15, "complex128", 128),
    (BF16, 16, "bfloat16", 16),
    (F8E4M3, 17, "float8e4m3fn", 8),
    (F8E4M3Uz, 18, "float8e4m3fnuz", 8),
    (F8E5M2, 19, "float8e5m2", 8),
    (F8E5M2Uz, 20, "float8e5m2fnuz", 8),
    (U4, 21, "uint4", 4),
    (I4, 22, "int4", 4),
    (F4E2M1, 23, "float4e2m1", 4),
    (F8E8M0, 24, "float8e8m0", 8),
    (U2, 25, "uint2", 2),
    (I2, 26, "int2", 2),
];

impl Element {
    fn row(self) -> &'static (Self, i32, &'static str, usize) {
        &TABLE[self as usize]
    }

    /// The type with this number in files.
    pub fn of_code(code: i32) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == code).map(|row| row.0)
    }

    /// The number in files.
    pub fn code(self) -> i32 {
        self.row().1
    }

    /// The name in the specification, `float16`.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// The bits of one element in raw data; 0 for strings.
    pub fn bits(self) -> usize {
        self.row().3
    }

    /// True for the types that hold fractions.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            F32 | F16 | F64 | BF16 | F8E4M3 | F8E4M3Uz | F8E5M2 | F8E5M2Uz | F4E2M1 | F8E8M0
        )
    }

    /// True for integers and natural numbers.
    pub fn is_integer(self) -> bool {
        self.integer_range().is_some()
    }

    /// The smallest and the largest number of an integer type; `None` for others. 64 bits are those of `i64`.
    pub fn integer_range(self) -> Option<(i64, i64)> {
        let signed = match self {
            I2 | I4 | I8 | I16 | I32 | I64 => true,
            U2 | U4 | U8 | U16 | U32 => false,
            U64 => return Some((0, i64::MAX)),
            _ => return None,
        };
        let bits = self.bits() as u32;
        Some(if signed {
            (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits))
        } else {
            (0, (1 << bits) - 1)
        })
    }

    /// The number that these bits of a small float mean; `None` for other types.
    pub fn small_float(self, bits: u8) -> Option<f32> {
        let (exponent_bits, mantissa_bits, bias) = match self {
            F8E4M3 => (4, 3, 7),
            F8E4M3Uz => (4, 3, 8),
            F8E5M2 => (5, 2, 15),
            F8E5M2Uz => (5, 2, 16),
            F4E2M1 => (2, 1, 1),
            F8E8M0 if bits == 0xff => return Some(f32::NAN),
            F8E8M0 => return Some(2.0_f64.powi(i32::from(bits) - 127) as f32),
            _ => return None,
        };
        let sign = if bits >> (exponent_bits + mantissa_bits) & 1 == 0 {
            1.0
        } else {
            -1.0
        };
        let magnitude = bits & ((1_u16 << (exponent_bits + mantissa_bits)) - 1) as u8;
        let special = match self {
            F8E4M3 if magnitude == 0x7f => Some(f32::NAN),
            F8E4M3Uz | F8E5M2Uz if bits == 0x80 => Some(f32::NAN),
            F8E5M2 if magnitude == 0x7c => Some(sign * f32::INFINITY),
            F8E5M2 if magnitude > 0x7c => Some(f32::NAN),
            _ => None,
        };
        let exponent = i32::from(magnitude >> mantissa_bits);
        let mantissa = f32::from(magnitude & ((1 << mantissa_bits) - 1));
        let unit = 2.0_f32.powi(-mantissa_bits);
        let value = match exponent {
            0 => mantissa * unit * 2.0_f32.powi(1 - bias),
            _ => (1.0 + mantissa * unit) * 2.0_f32.powi(exponent - bias),
        };
        Some(special.unwrap_or(sign * value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, index);
            assert_eq!(Element::of_code(row.1), Some(row.0));
        }
        assert_eq!(Element::of_code(0), None);
        assert_eq!(Element::of_code(99), None);
    }

    #[test]
    fn ranges_of_integers() {
        assert_eq!(I2.integer_range(), Some((-2, 1)));
        assert_eq!(U4.integer_range(), Some((0, 15)));
        assert_eq!(I16.integer_range(), Some((-32768, 32767)));
        assert_eq!(I64.integer_range(), Some((i64::MIN, i64::MAX)));
        assert_eq!(F16.integer_range(), None);
    }

    #[test]
    fn small_floats_at_their_edges() {
        let cases = [
            (F8E4M3, 0x7e, 448.0),
            (F8E4M3, 0x01, 2.0_f32.powi(-9)),
            (F8E4M3Uz, 0x7f, 240.0),
            (F8E5M2, 0x7b, 57344.0),
            (F8E5M2, 0xfc, f32::NEG_INFINITY),
            (F8E5M2Uz, 0x7f, 57344.0),
            (F4E2M1, 0x7, 6.0),
            (F4E2M1, 0x9, -0.5),
            (F8E8M0, 127, 1.0),
        ];
        for (element, bits, value) in cases {
            assert_eq!(
                element.small_float(bits),
                Some(value),
                "{element:?} {bits:#x}"
            );
        }
        assert!(F8E4M3.small_float(0xff).is_some_and(f32::is_nan));
        assert!(F8E4M3Uz.small_float(0x80).is_some_and(f32::is_nan));
    }
}
