//! Zip archives in memory, with a bound on what they may unpack to.

use crate::Budget;
use crate::error::Problem;
use std::borrow::Cow;
use std::io::{Cursor, Read, Write};
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The first bytes of an archive with entries.
pub const ZIP_START: &[u8] = b"PK\x03\x04";

/// An archive opened for reading.
pub struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Charged for what is unpacked. Archives can unpack to a thousand times their size, and entries may overlap.
    budget: &'a Budget,
}

impl<'a> Archive<'a> {
    /// Reads the directory.
    pub fn open(bytes: &'a [u8], budget: &'a Budget) -> Result<Self, Problem> {
        // An archive may hold others, whose directories a search for the start would take for its own.
        let config = Config {
            archive_offset: ArchiveOffset::Known(0),
        };
        let zip = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(|error| {
            // The reader's word for a missing directory says nothing to a user.
            let why = match error {
                ZipError::InvalidArchive(_) => "it has no whole directory".to_owned(),
                other => other.to_string(),
            };
            Problem::part("the zip archive is cut short or damaged", why)
        })?;
        Ok(Self { zip, budget })
    }

    /// True when there is an entry of this name.
    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// The names of the entries that are text.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.zip.file_names().flatten()
    }

    /// The content of an entry, its checksum verified.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, Problem> {
        let mut entry = self
            .zip
            .by_name(name)
            .map_err(|error| Problem::part(name, error.to_string()))?;
        let left = self.budget.left();
        // Memory for the size that the directory tells, which may be wrong, and no more than is left.
        let mut bytes = Vec::with_capacity(entry.size().min(left) as usize);
        let read = entry.by_ref().take(left + 1).read_to_end(&mut bytes);
        read.map_err(|error| Problem::part(name, error.to_string()))?;
        self.budget.take(bytes.len() as u64)?;
        Ok(bytes)
    }

    /// The content of an entry that is text.
    pub fn read_text(&mut self, name: &str) -> Result<String, Problem> {
        String::from_utf8(self.read(name)?).map_err(|error| Problem::part(name, error.to_string()))
    }
}

/// An archive of these entries, uncompressed. Entries start at multiples of 64, as PyTorch has it, so that files can
/// be mapped into memory; there are no times, so that equal content makes equal files.
pub fn pack<'a>(entries: impl IntoIterator<Item = (String, &'a [u8])>) -> Result<Vec<u8>, Problem> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes.len() as u64 >= u64::from(u32::MAX))
            .with_alignment(64);
        let started = zip.start_file(name.as_str(), options);
        started.map_err(|error| Problem::part(&name, error.to_string()))?;
        zip.write_all(bytes)?;
    }
    let packed = zip
        .finish()
        .map_err(|error| Problem::part("zip archive", error.to_string()))?;
    Ok(packed.into_inner())
}
