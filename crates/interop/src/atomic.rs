//! Files appear whole or not at all: a temporary name beside the target, sync, rename.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `bytes` to `path`. A crash leaves the old file or the new one, never a mixture.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary_name(path)?;
    let written = write_synced(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_ok() {
        sync_folder(path);
    } else {
        // The first error is the one to report; a temporary file that cannot be removed changes nothing about it.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes the temporary files that killed processes left in a folder and in those beneath it; links are not followed. No
/// other process may be writing there.
pub fn remove_temporary_files(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            remove_temporary_files(&entry.path())?;
        } else if kind.is_file() && is_temporary(&entry.file_name()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// True for the names that [`temporary_name`] gives.
fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let inner = name.strip_prefix('.').and_then(|n| n.strip_suffix(".tmp"));
    let process = inner.and_then(|inner| inner.rsplit_once('.'));
    process.is_some_and(|(file, id)| !file.is_empty() && id.parse::<u32>().is_ok())
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the rename last through a power cut. Some systems cannot sync a folder, and the file is whole without it.
fn sync_folder(path: &Path) {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// Hidden, in the same folder (a rename must not cross file systems), and different for every process.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
    let mut name = OsString::from(".");
    name.push(path.file_name().ok_or_else(no_name)?);
    name.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_and_no_others_are_known() {
        let temporary = temporary_name(Path::new("a/last.ckpt")).unwrap();
        assert!(is_temporary(temporary.file_name().unwrap()));
        for name in [
            ".tmp",
            ".1.tmp",
            "x.1.tmp",
            ".x.tmp",
            ".x.y.tmp",
            ".x.1.tmp~",
            ".x.1",
        ] {
            assert!(!is_temporary(OsStr::new(name)), "{name}");
        }
    }

    /// An empty folder of the system's.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("interop_{name}_{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_file_is_replaced_or_left_as_it_was() {
        let folder = folder("replaced");
        let path = folder.join("a");
        write_file(&path, b"old").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        // A folder is no place for a file.
        fs::create_dir_all(folder.join("b/c")).unwrap();
        assert!(write_file(&folder.join("b"), b"x").is_err());
        let error = write_file(Path::new("/"), b"x").unwrap_err();
        assert_eq!(error.to_string(), "the path has no file name");
        assert_eq!(names(&folder), ["a", "b"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn temporary_files_are_removed_from_all_folders() {
        let folder = folder("removed");
        fs::create_dir_all(folder.join("inner/.x.1.tmp")).unwrap();
        for name in [
            "a",
            ".a.12.tmp",
            "inner/b",
            "inner/.b.7.tmp",
            "inner/.x.1.tmp/.c.3.tmp",
        ] {
            fs::write(folder.join(name), b"").unwrap();
        }
        remove_temporary_files(&folder).unwrap();
        assert_eq!(names(&folder), ["a", "inner"]);
        assert_eq!(names(&folder.join("inner")), [".x.1.tmp", "b"]);
        assert!(names(&folder.join("inner/.x.1.tmp")).is_empty());
        fs::remove_dir_all(folder).unwrap();
    }
}
