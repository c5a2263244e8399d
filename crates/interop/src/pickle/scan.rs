//! The bytes of a stream, taken from the front; every length is checked against what is left.

/// A message about bad bytes; the machine adds the place.
pub type Scanned<T> = Result<T, String>;

/// A place in a stream.
pub struct Scanner<'a> {
    bytes: &'a [u8],
    /// Offset of the next byte.
    pub at: usize,
}

impl<'a> Scanner<'a> {
    /// The start of a stream.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: u64) -> Scanned<&'a [u8]> {
        let left = &self.bytes[self.at..];
        if n > left.len() as u64 {
            return Err(format!("{n} bytes are announced, {} are left", left.len()));
        }
        self.at += n as usize;
        Ok(&left[..n as usize])
    }

    /// One byte.
    pub fn byte(&mut self) -> Scanned<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// A little-endian unsigned number of `width` bytes, at most eight.
    pub fn unsigned(&mut self, width: u64) -> Scanned<u64> {
        let bytes = self.take(width)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |n, &byte| (n << 8) + u64::from(byte)))
    }

    /// A run of bytes whose length stands before it in `width` bytes.
    pub fn counted(&mut self, width: u64) -> Scanned<&'a [u8]> {
        let n = self.unsigned(width)?;
        self.take(n)
    }

    /// Text of counted bytes.
    pub fn counted_text(&mut self, width: u64) -> Scanned<String> {
        // Python writes lone surrogates as bytes that are not text; they become replacement characters.
        Ok(String::from_utf8_lossy(self.counted(width)?).into_owned())
    }

    /// A line, without its end.
    pub fn line(&mut self) -> Scanned<&'a str> {
        std::str::from_utf8(self.raw_line()?).map_err(|_| "a line is not text".to_owned())
    }

    /// A line whose bytes are the first 256 characters, as protocol 0 writes text.
    pub fn latin1_line(&mut self) -> Scanned<String> {
        Ok(self
            .raw_line()?
            .iter()
            .map(|&byte| char::from(byte))
            .collect())
    }

    fn raw_line(&mut self) -> Scanned<&'a [u8]> {
        let left = &self.bytes[self.at..];
        let end = left
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or("a line has no end")?;
        self.at += end + 1;
        Ok(&left[..end])
    }

    /// A line that is a number.
    pub fn line_number<T: std::str::FromStr>(&mut self) -> Scanned<T> {
        let line = self.line()?;
        let number = line.trim_end_matches(['L', '\r']);
        number
            .parse()
            .map_err(|_| format!("'{}' is not a number", short(line)))
    }
}

/// A two's-complement little-endian number of any length; `None` beyond 127 bits.
pub fn signed(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let fill = if negative { 0xff } else { 0 };
    let mut padded = [fill; 16];
    let (low, high) = bytes.split_at(bytes.len().min(16));
    padded[..low.len()].copy_from_slice(low);
    let number = i128::from_le_bytes(padded);
    let fits = high.iter().all(|&byte| byte == fill) && (number < 0) == negative;
    fits.then_some(number)
}

/// The escapes of a line.
#[derive(Clone, Copy, PartialEq)]
pub enum Escapes {
    /// Those of code points alone: text.
    Unicode,
    /// All that Python writes between quotes: strings of Python 2.
    Quoted,
}

/// A line of protocol 0 with Python's escapes resolved.
pub fn unescape(line: &str, escapes: Escapes) -> Scanned<String> {
    let mut out = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('u') => out.push(hex(&mut rest, 4)?),
            Some('U') => out.push(hex(&mut rest, 8)?),
            Some(c) if escapes == Escapes::Quoted => out.push(quoted(c, &mut rest)?),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    Ok(out)
}

/// A quoted line of protocol 0.
pub fn unquote(line: &str) -> Scanned<String> {
    let line = line.trim_end_matches('\r');
    let inner = ['\'', '"']
        .iter()
        .find_map(|&quote| line.strip_prefix(quote)?.strip_suffix(quote));
    let inner = inner.ok_or_else(|| format!("'{}' is not quoted", short(line)))?;
    unescape(inner, Escapes::Quoted)
}

fn quoted(c: char, rest: &mut std::str::Chars) -> Scanned<char> {
    Ok(match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'x' => hex(rest, 2)?,
        c => c,
    })
}

fn hex(rest: &mut std::str::Chars, digits: usize) -> Scanned<char> {
    let digits: String = rest.take(digits).collect();
    let code = u32::from_str_radix(&digits, 16)
        .map_err(|_| format!("escape '{digits}' is not a number"))?;
    Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn short(line: &str) -> String {
    line.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_numbers_of_any_length() {
        let cases: [(&[u8], Option<i128>); 7] = [
            (&[], Some(0)),
            (&[0xff], Some(-1)),
            (&[0xff, 0x00], Some(255)),
            (&[0x00, 0x80], Some(-32768)),
            (&[0xff; 40], Some(-1)),
            (&[0x01; 17], None),
            (
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0],
                Some(u64::MAX as i128),
            ),
        ];
        for (bytes, number) in cases {
            assert_eq!(signed(bytes), number, "{bytes:?}");
        }
    }

    #[test]
    fn escapes_of_protocol_0() {
        assert_eq!(unquote(r"'a\'b\\c\n\x41'"), Ok("a'b\\c\nA".to_owned()));
        assert_eq!(
            unescape(r"\n\u00e9\U0001f600", Escapes::Unicode),
            Ok(r"\né😀".to_owned())
        );
        assert!(unquote("'open").is_err());
        assert!(unquote(r"'\xzz'").is_err());
    }
}
