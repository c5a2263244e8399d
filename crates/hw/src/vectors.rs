//! Rows of codes in a file, `tb/x.bin` and `tb/y.bin`: what a simulation feeds to the network and what it must answer.
//!
//! 16 bytes of header: `MASEVEC1`, rows (u32), elements of a row (u16), bytes of a code (u16: 4 or 8). Then the codes, row by row,
//! as signed integers. Everything is little-endian.

use crate::ports::Element;
use crate::tools::ToolError;
use std::fs;
use std::path::Path;

const MAGIC: &[u8; 8] = b"MASEVEC1";
const HEADER: usize = 16;

/// Rows of codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    elements: usize,
    codes: Vec<i64>,
}

impl Vectors {
    /// Codes row by row. A row has at least one element, and the file's header can count rows and elements.
    pub fn new(elements: usize, codes: Vec<i64>) -> Result<Self, String> {
        if elements == 0 || u16::try_from(elements).is_err() {
            return Err(format!(
                "a row has {elements} elements, not 1 to {}",
                u16::MAX
            ));
        }
        if !codes.len().is_multiple_of(elements) {
            return Err(format!("{} codes are no rows of {elements}", codes.len()));
        }
        let rows = codes.len() / elements;
        if u32::try_from(rows).is_err() {
            return Err(format!("{rows} rows are more than {}", u32::MAX));
        }
        Ok(Self { elements, codes })
    }

    /// Elements of a row.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.codes.len() / self.elements
    }

    /// True without any row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[i64]> {
        self.codes.chunks_exact(self.elements)
    }

    /// The first rows, at most `count`.
    #[must_use]
    pub fn truncated(&self, count: usize) -> Self {
        let codes = self.codes.iter().take(count.saturating_mul(self.elements));
        Self {
            elements: self.elements,
            codes: codes.copied().collect(),
        }
    }

    /// The bytes of the file: 4 for each code, or 8 where one needs it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let is_narrow = self.codes.iter().all(|code| i32::try_from(*code).is_ok());
        let width: u16 = if is_narrow { 4 } else { 8 };
        let mut bytes = Vec::with_capacity(HEADER + self.codes.len() * usize::from(width));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(self.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.elements as u16).to_le_bytes());
        bytes.extend_from_slice(&width.to_le_bytes());
        for code in &self.codes {
            bytes.extend_from_slice(&code.to_le_bytes()[..usize::from(width)]);
        }
        bytes
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (header, body) = bytes
            .split_at_checked(HEADER)
            .ok_or("it ends within its header of 16 bytes")?;
        if header[..8] != MAGIC[..] {
            return Err("it does not begin with MASEVEC1".to_owned());
        }
        let number = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let rows = number(8) | number(10) << 16;
        let (elements, width) = (number(12), number(14));
        if width != 4 && width != 8 {
            return Err(format!("a code has {width} bytes, not 4 or 8"));
        }
        // A product of 32, 16 and 4 bits.
        let expected = (rows * elements) as u64 * width as u64;
        if body.len() as u64 != expected {
            let found = body.len();
            return Err(format!(
                "{rows} rows of {elements} codes of {width} bytes are {expected} bytes, but {found} follow the header"
            ));
        }
        let codes = body.chunks_exact(width).map(|bytes| match bytes {
            &[a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            bytes => bytes
                .iter()
                .rev()
                .fold(0, |code, byte| code << 8 | i64::from(*byte)),
        });
        Self::new(elements, codes.collect())
    }

    /// Reads a file, and holds it against the elements of its port.
    pub fn read(path: &Path, elements: &[Element]) -> Result<Self, ToolError> {
        let refused = |message: String| ToolError::file(path, &message);
        let bytes = fs::read(path).map_err(|error| refused(error.to_string()))?;
        let vectors = Self::from_bytes(&bytes).map_err(refused)?;
        vectors.check(elements).map_err(refused)?;
        Ok(vectors)
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ToolError> {
        let written = interop::write_file(path, &self.to_bytes());
        written.map_err(|error| ToolError::file(path, &error))
    }

    /// Every code lies in the interval of its element.
    fn check(&self, elements: &[Element]) -> Result<(), String> {
        if self.elements != elements.len() {
            return Err(format!(
                "its rows have {} elements, but the port {}",
                self.elements,
                elements.len()
            ));
        }
        for (k, row) in self.rows().enumerate() {
            for (code, element) in row.iter().zip(elements) {
                let Element { name, min, max, .. } = element;
                if !(*min..=*max).contains(code) {
                    return Err(format!(
                        "row {k}: {name} is {code}, outside of {min} to {max}"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::packed;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_come_back(elements in 1_usize..5, seed in prop::collection::vec(any::<i64>(), 0..40), is_wide in any::<bool>()) {
            let narrow = |code: &i64| if is_wide { *code } else { i64::from(*code as i32) };
            let rows = seed.len() / elements;
            let codes: Vec<i64> = seed[..rows * elements].iter().map(narrow).collect();
            let vectors = Vectors::new(elements, codes).unwrap();
            prop_assert_eq!(Vectors::from_bytes(&vectors.to_bytes()).unwrap(), vectors);
        }

        /// Whatever the bytes are, they are read or refused; what is read has the bytes it was read from, or wider ones.
        #[test]
        fn hostile_bytes_are_refused(mut tail in prop::collection::vec(any::<u8>(), 0..60), has_magic in any::<bool>()) {
            if has_magic {
                tail.splice(0..0, *MAGIC);
            }
            if let Ok(vectors) = Vectors::from_bytes(&tail) {
                prop_assert_eq!(Vectors::from_bytes(&vectors.to_bytes()).unwrap(), vectors);
            }
        }
    }

    #[test]
    fn the_header_is_as_described() {
        let bytes = Vectors::new(2, vec![1, -2, 3, 4]).unwrap().to_bytes();
        assert_eq!(bytes[..16], *b"MASEVEC1\x02\0\0\0\x02\0\x04\0");
        assert_eq!(bytes[16..24], [1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff]);
        let bytes = Vectors::new(1, vec![1 << 40]).unwrap().to_bytes();
        assert_eq!((bytes[14], bytes.len()), (8, 24));
    }

    #[test]
    fn each_defect_is_named() {
        let good = Vectors::new(2, vec![1, 2, 3, 4]).unwrap().to_bytes();
        let error = |bytes: &[u8]| Vectors::from_bytes(bytes).unwrap_err();
        assert_eq!(error(&good[..15]), "it ends within its header of 16 bytes");
        assert!(error(&good[..20]).ends_with("are 16 bytes, but 4 follow the header"));
        let mut other = good.clone();
        other[7] = b'2';
        assert_eq!(error(&other), "it does not begin with MASEVEC1");
        let mut other = good.clone();
        other[14] = 3;
        assert_eq!(error(&other), "a code has 3 bytes, not 4 or 8");
        let mut other = good;
        other[8..14].fill(0);
        other.truncate(16);
        assert_eq!(error(&other), "a row has 0 elements, not 1 to 65535");
    }

    #[test]
    fn codes_outside_of_the_port_are_named() {
        let elements = packed([("x[0]".to_owned(), 0, -4, 3), ("x[1]".to_owned(), 0, 0, 7)]);
        let vectors = Vectors::new(2, vec![3, 7, -4, 8]).unwrap();
        assert_eq!(
            vectors.check(&elements).unwrap_err(),
            "row 1: x[1] is 8, outside of 0 to 7"
        );
        assert_eq!(vectors.truncated(1).check(&elements), Ok(()));
        let error = vectors.check(&elements[..1]).unwrap_err();
        assert_eq!(error, "its rows have 2 elements, but the port 1");
    }
}
