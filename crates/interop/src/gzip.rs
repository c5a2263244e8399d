//! Files that may be gzipped.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The content of `file`, unpacked when it starts as a gzip file does.
pub fn reader<'a>(file: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let is_packed = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_packed {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}
