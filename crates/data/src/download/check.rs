//! The check of a fetched file: by its published SHA-256, else by the bytes that files of its kind begin with.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The check that a fetched file must pass before it is used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// Its SHA-256 is this one, in hexadecimal.
    Sha256(&'static str),
    /// It begins as files of this kind do; no checksum was published.
    Kind(Kind),
}

/// A kind of file that is published without a checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A table of `OpenML`'s.
    Arff,
    /// A container of arrays.
    Hdf5,
    /// `OpenML`'s description of a dataset, in JSON.
    Description,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Arff => "an ARFF table",
            Self::Hdf5 => "an HDF5 file",
            Self::Description => "a description of a dataset",
        }
    }

    /// True when a file that begins with these bytes can be of this kind.
    fn fits(self, start: &[u8]) -> bool {
        let text = start.trim_ascii_start();
        match self {
            // Comments, or a section: @relation, @attribute.
            Self::Arff => text.starts_with(b"%") || text.starts_with(b"@"),
            Self::Hdf5 => start.starts_with(b"\x89HDF\r\n\x1a\n"),
            Self::Description => text.starts_with(b"{"),
        }
    }
}

impl Check {
    /// The SHA-256 of a file that passes, or the problem in words.
    pub fn verify(self, path: &Path) -> io::Result<Result<String, String>> {
        let found = File::open(path).and_then(sha256)?;
        match self {
            Self::Sha256(published) if published != found => Ok(Err(format!(
                "the file has SHA-256 {found}, not {published} as published"
            ))),
            Self::Kind(kind) if !kind.fits(&start(path)?) => {
                Ok(Err(format!("the file is not {}", kind.name())))
            }
            Self::Sha256(_) | Self::Kind(_) => Ok(Ok(found)),
        }
    }
}

/// The first bytes of a file.
fn start(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(256).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The SHA-256 of all that the reader gives, in hexadecimal.
pub(super) fn sha256(mut reader: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let n = reader.read(&mut piece)?;
        if n == 0 {
            break;
        }
        digest.update(&piece[..n]);
    }
    let bytes: [u8; 32] = digest.finalize().into();
    Ok(bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}
