//! Arrays of short texts: NumPy's `U` (UTF-32) and `S` (bytes), padded with zeros.

use super::Problem;

/// The storage format of texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Code points of four bytes each.
    Unicode {
        /// Code points of one element.
        length: usize,
        /// True when the highest byte comes first.
        is_big_endian: bool,
    },
    /// Bytes.
    Bytes {
        /// Bytes of one element.
        length: usize,
    },
}

impl Kind {
    /// The text type of a header's `<U5`, `>U5`, `|S5`; `None` for numbers.
    pub fn parse(descr: &str) -> Option<Self> {
        let (order, name) = descr.split_at_checked(1)?;
        let (kind, length) = name.split_at_checked(1)?;
        let length = length.parse().ok()?;
        match kind {
            "U" => Some(Self::Unicode {
                length,
                is_big_endian: order == ">",
            }),
            "S" => Some(Self::Bytes { length }),
            _ => None,
        }
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Self::Unicode { length, .. } => length.saturating_mul(4),
            Self::Bytes { length } => length,
        }
    }

    /// Every element.
    pub fn texts(self, data: &[u8]) -> Result<Vec<String>, Problem> {
        let elements = data.chunks_exact(self.size()).enumerate();
        elements
            .map(|(index, bytes)| {
                self.text(bytes).ok_or_else(|| Problem::Element {
                    index,
                    value: "not a text".to_owned(),
                })
            })
            .collect()
    }

    fn text(self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::Bytes { .. } => {
                let end = bytes
                    .iter()
                    .rposition(|&byte| byte != 0)
                    .map_or(0, |last| last + 1);
                String::from_utf8(bytes[..end].to_vec()).ok()
            }
            Self::Unicode { is_big_endian, .. } => {
                let point = |bytes: &[u8]| {
                    let bytes: [u8; 4] = bytes.try_into().ok()?;
                    let number = if is_big_endian {
                        u32::from_be_bytes(bytes)
                    } else {
                        u32::from_le_bytes(bytes)
                    };
                    char::from_u32(number)
                };
                let text: String = bytes.chunks_exact(4).map(point).collect::<Option<_>>()?;
                Some(text.trim_end_matches('\0').to_owned())
            }
        }
    }
}
