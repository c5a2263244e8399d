//! Memory for codes, as narrow as their range allows.

use super::range::CodeRange;

/// The storage type of the codes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Unsigned bytes.
    U8,
    /// Signed bytes.
    I8,
    /// 16-bit integers.
    I16,
    /// 32-bit integers.
    I32,
    /// 64-bit integers.
    I64,
}

impl Storage {
    /// The narrowest storage for codes of this range.
    pub(crate) fn of(range: CodeRange) -> Self {
        let holds = |min: i128, max: i128| range.min >= min && range.max <= max;
        if holds(0, u8::MAX.into()) {
            Self::U8
        } else if holds(i8::MIN.into(), i8::MAX.into()) {
            Self::I8
        } else if holds(i16::MIN.into(), i16::MAX.into()) {
            Self::I16
        } else if holds(i32::MIN.into(), i32::MAX.into()) {
            Self::I32
        } else {
            Self::I64
        }
    }

    /// Its name in reports, the Rust type.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }
}

/// An integer that codes are stored in.
pub(crate) trait Code: Copy + Default + Ord {
    fn widen(self) -> i64;
    /// The code, which the range of its value says fits.
    fn narrow(code: i64) -> Self;
    /// The codes of a buffer of this type.
    fn codes_of(buffer: &Buffer) -> Option<&[Self]>;
    /// The same to change them.
    fn codes_mut_of(buffer: &mut Buffer) -> Option<&mut [Self]>;
}

macro_rules! codes {
    ($($ty:ty = $variant:ident),*) => {$(
        impl Code for $ty {
            #[inline]
            fn widen(self) -> i64 {
                i64::from(self)
            }

            #[inline]
            fn narrow(code: i64) -> Self {
                debug_assert!(Self::try_from(code).is_ok(), "{code} is out of its proven range");
                code as Self
            }

            fn codes_of(buffer: &Buffer) -> Option<&[Self]> {
                match buffer {
                    Buffer::$variant(codes) => Some(codes),
                    _ => None,
                }
            }

            fn codes_mut_of(buffer: &mut Buffer) -> Option<&mut [Self]> {
                match buffer {
                    Buffer::$variant(codes) => Some(codes),
                    _ => None,
                }
            }
        }
    )*};
}

codes!(u8 = U8, i8 = I8, i16 = I16, i32 = I32, i64 = I64);

/// The codes of one value.
#[derive(Clone, Debug)]
pub(crate) enum Buffer {
    U8(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

/// Runs an expression on the typed vector of a buffer.
macro_rules! with_buffer {
    ($buffer:expr, $codes:ident => $body:expr) => {
        match $buffer {
            $crate::integer::buffer::Buffer::U8($codes) => $body,
            $crate::integer::buffer::Buffer::I8($codes) => $body,
            $crate::integer::buffer::Buffer::I16($codes) => $body,
            $crate::integer::buffer::Buffer::I32($codes) => $body,
            $crate::integer::buffer::Buffer::I64($codes) => $body,
        }
    };
}

pub(crate) use with_buffer;

impl Buffer {
    /// `len` zeros.
    pub fn zeros(storage: Storage, len: usize) -> Self {
        match storage {
            Storage::U8 => Self::U8(vec![0; len]),
            Storage::I8 => Self::I8(vec![0; len]),
            Storage::I16 => Self::I16(vec![0; len]),
            Storage::I32 => Self::I32(vec![0; len]),
            Storage::I64 => Self::I64(vec![0; len]),
        }
    }

    /// Number of codes.
    pub fn len(&self) -> usize {
        with_buffer!(self, codes => codes.len())
    }

    /// The codes, if they are of this type.
    pub fn codes_mut<T: Code>(&mut self) -> Option<&mut [T]> {
        T::codes_mut_of(self)
    }

    /// All codes, into a vector of that length afterwards.
    pub fn load(&self, wide: &mut Vec<i64>) {
        wide.clear();
        with_buffer!(self, codes => wide.extend(codes.iter().map(|code| code.widen())));
    }

    /// Writes codes from element `start` on.
    pub fn store(&mut self, start: usize, wide: &[i64]) {
        with_buffer!(self, codes => narrow(wide, &mut codes[start..start + wide.len()]));
    }

    /// Writes codes from element `start` on.
    pub fn store_all(&mut self, start: usize, wide: impl Iterator<Item = i64>) {
        with_buffer!(self, codes => {
            for (code, to) in wide.zip(&mut codes[start..]) {
                *to = Code::narrow(code);
            }
        });
    }
}

fn narrow<T: Code>(wide: &[i64], codes: &mut [T]) {
    for (to, &code) in codes.iter_mut().zip(wide) {
        *to = T::narrow(code);
    }
}
