//! Files that may be gzipped.

use crate::Budget;
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The content of `file`, unpacked when it starts as a gzip file does; no more is unpacked than the budget of the file.
pub fn reader<'a>(file: impl Read + 'a, budget: &Budget) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    let is_packed = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_packed {
        let unpacked = Unpacked {
            packed: MultiGzDecoder::new(file),
            left: budget.max(),
            budget: budget.clone(),
        };
        Box::new(BufReader::with_capacity(1 << 16, unpacked))
    } else {
        Box::new(file)
    })
}

/// Bytes that are unpacked up to a limit: ten gigabytes of line ends pack into ten megabytes.
struct Unpacked<R> {
    packed: R,
    left: u64,
    budget: Budget,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.packed.read(buffer)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| io::Error::other(self.budget.over()))?;
        Ok(count)
    }
}
