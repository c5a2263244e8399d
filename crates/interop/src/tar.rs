//! Files in a tar archive, which may be gzipped. Nothing is written to disk.

use crate::columns::TableProblem;
use crate::{Budget, gzip};
use std::io::{self, Read};

const BLOCK: usize = 512;
/// An archive with more entries is refused.
const MAX_ENTRIES: usize = 10_000;

/// Calls `visit` with the name and content of every plain file of at most `max_bytes`; longer ones are an error.
pub fn visit(
    archive: impl Read,
    max_bytes: u64,
    budget: &Budget,
    mut visit: impl FnMut(&str, &[u8]) -> Result<(), TableProblem>,
) -> Result<(), TableProblem> {
    let mut reader = gzip::reader(archive, budget)?;
    let mut content = Vec::new();
    for _ in 0..MAX_ENTRIES {
        let mut header = [0; BLOCK];
        if !read_block(&mut reader, &mut header)? || header.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        let name = text(&header[..100]);
        let size = octal(&header[124..136]).ok_or_else(|| TableProblem::Kind {
            kind: "a tar archive",
            message: format!("entry '{name}' has no size"),
        })?;
        if size > max_bytes {
            let message = format!("has {size} bytes, more than the {max_bytes} that are read");
            return Err(TableProblem::place(format!("entry '{name}'"), message));
        }
        let padded = size.next_multiple_of(BLOCK as u64);
        if padded > content.capacity() as u64 {
            budget.take(padded)?;
        }
        content.clear();
        reader.by_ref().take(padded).read_to_end(&mut content)?;
        if (content.len() as u64) < size {
            let message = format!("has {size} bytes, of which {} are there", content.len());
            return Err(TableProblem::place(format!("entry '{name}'"), message));
        }
        if matches!(header[156], 0 | b'0') {
            visit(&name, &content[..size as usize])?;
        }
    }
    Err(TableProblem::place(
        "archive",
        format!("has more than {MAX_ENTRIES} entries"),
    ))
}

/// Fills the block; false at the end of the archive.
fn read_block(reader: &mut impl Read, block: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < block.len() {
        match reader.read(&mut block[filled..])? {
            0 if filled == 0 => return Ok(false),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => filled += n,
        }
    }
    Ok(true)
}

fn text(field: &[u8]) -> String {
    let end = field
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = text(field);
    u64::from_str_radix(text.trim(), 8).ok()
}
