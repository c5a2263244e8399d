//! A folder for the files between two tools, removed when it is dropped.

use crate::tools::ToolError;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of the system's for temporary files.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes an empty folder.
    pub fn new() -> Result<Self, ToolError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mase-hw-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let made = fs::create_dir_all(&path);
        made.map_err(|error| ToolError::file(&path, &error))?;
        Ok(Self(path))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf, ToolError> {
        let path = self.file(name);
        let written = fs::write(&path, bytes);
        written.map_err(|error| ToolError::file(&path, &error))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays in a folder for temporary files hurts nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}
