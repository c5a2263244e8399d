//! The header of an array file: `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.

use super::{MAX_RANK, Problem};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Elements start at a multiple of this, as NumPy aligns them.
const ALIGNMENT: usize = 64;
/// Real headers have about a hundred bytes.
const MAX_HEADER: usize = 1 << 16;

/// The content of the header.
#[derive(Debug, Default)]
pub struct Header {
    /// The type of the elements.
    pub descr: String,
    /// True when the first axis is the fastest.
    pub fortran_order: bool,
    /// The axes.
    pub shape: Vec<usize>,
}

/// The header and the bytes behind it.
pub fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), Problem> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(Problem::NotNpy)?;
    let [major, minor, rest @ ..] = rest else {
        return Err(Problem::ShortHeader);
    };
    let (length, rest) = match (major, minor, rest) {
        (1, 0, [a, b, rest @ ..]) => (u32::from(u16::from_le_bytes([*a, *b])), rest),
        (2 | 3, 0, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]), rest),
        (1..=3, 0, _) => return Err(Problem::ShortHeader),
        _ => return Err(Problem::Version(*major, *minor)),
    };
    let start = bytes.len() - rest.len();
    let length = length as usize;
    if length > MAX_HEADER {
        let message = format!("has {length} bytes, more than the {MAX_HEADER} that are read");
        return Err(Problem::Header { at: start, message });
    }
    let (text, data) = rest.split_at_checked(length).ok_or(Problem::ShortHeader)?;
    let mut reader = Reader { text, at: 0 };
    let header = reader.dictionary().map_err(|message| Problem::Header {
        at: start + reader.at,
        message,
    })?;
    Ok((header, data))
}

/// The magic, the version and the header of an array in C order.
pub fn print(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let sizes = sizes.join(", ") + comma;
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}

/// Reads the three keys that the format has, each once, in any order.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn dictionary(&mut self) -> Result<Header, String> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.accept(b'}') {
            let start = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            let repeated = match key.as_str() {
                "descr" => descr.replace(self.descr()?).is_some(),
                "fortran_order" => fortran_order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => {
                    self.at = start;
                    return Err(format!("unknown key '{key}'"));
                }
            };
            if repeated {
                return Err(format!("'{key}' is given twice"));
            }
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.skip_space();
        if self.at < self.text.len() {
            return Err(format!("expected the end, found {}", self.found()));
        }
        Ok(Header {
            descr: descr.ok_or("'descr' is missing")?,
            fortran_order: fortran_order.ok_or("'fortran_order' is missing")?,
            shape: shape.ok_or("'shape' is missing")?,
        })
    }

    fn descr(&mut self) -> Result<String, String> {
        self.skip_space();
        if self.text.get(self.at) == Some(&b'[') {
            return Err("the elements are records; save a plain float32 array".to_owned());
        }
        self.string()
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')') {
            if shape.len() == MAX_RANK {
                return Err(format!("the shape has more than {MAX_RANK} axes"));
            }
            shape.push(self.number()?);
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn number(&mut self) -> Result<usize, String> {
        self.skip_space();
        let digits = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = self.at + digits.count();
        let text = String::from_utf8_lossy(&self.text[self.at..end]).into_owned();
        if text.is_empty() {
            return Err(format!("expected a size, found {}", self.found()));
        }
        let size = text
            .parse()
            .map_err(|_| format!("size {text} is too large"))?;
        self.at = end;
        Ok(size)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(format!("expected True or False, found {}", self.found()))
    }

    /// No escapes: no key or type needs one.
    fn string(&mut self) -> Result<String, String> {
        self.skip_space();
        let quote = match self.text.get(self.at) {
            Some(quote @ (b'\'' | b'"')) => *quote,
            _ => return Err(format!("expected a string, found {}", self.found())),
        };
        let inside = &self.text[self.at + 1..];
        let length = inside.iter().position(|&byte| byte == quote);
        let length = length.ok_or("the string has no end")?;
        self.at += length + 2;
        Ok(String::from_utf8_lossy(&inside[..length]).into_owned())
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.accept(byte) {
            return Ok(());
        }
        Err(format!(
            "expected '{}', found {}",
            byte as char,
            self.found()
        ))
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        let space = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        self.at += space.count();
    }

    fn found(&self) -> String {
        match self.text.get(self.at) {
            None => "the end".to_owned(),
            Some(byte) => format!("'{}'", byte.escape_ascii()),
        }
    }
}
