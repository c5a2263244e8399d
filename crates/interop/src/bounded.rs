//! Files read whole, up to a size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file; `None` when it has more than `max`. The limit holds for pipes too, which have no length beforehand.
pub fn read(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= max).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_no_more_bytes_than_are_read() {
        let path = std::env::temp_dir().join(format!("interop_bounded_{}", std::process::id()));
        std::fs::write(&path, b"12345").unwrap();
        for (max, expected) in [
            (0, None),
            (4, None),
            (5, Some(b"12345".to_vec())),
            (6, Some(b"12345".to_vec())),
        ] {
            assert_eq!(read(&path, max).unwrap(), expected, "{max}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path, 5).is_err());
    }
}
