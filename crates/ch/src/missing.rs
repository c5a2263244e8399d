//! Files and folders that a command names and that are not there.

use anyhow::{Result, bail};
use config::{hint, nearest};
use data::{DataError, OpenOptions};
use std::path::{Path, PathBuf};

/// An error if there is nothing at a path.
pub fn check(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    bail!(sentence(path))
}

/// An error if no file can be at the path of `--out`.
pub fn check_output(path: &Path) -> Result<()> {
    let shown = path.display();
    if let Some(folder) = folder(path).filter(|folder| !folder.is_dir()) {
        bail!("--out {shown}: there is no folder {}", folder.display());
    }
    if path.is_dir() {
        bail!("--out {shown}: is a folder; name a file in it");
    }
    Ok(())
}

/// The sentence for a path where nothing is, with the nearest names in its folder.
pub fn sentence(path: &Path) -> String {
    let shown = path.display();
    let folder = folder(path);
    let Ok(entries) = folder.unwrap_or(Path::new(".")).read_dir() else {
        let folder = folder.unwrap_or(path).display();
        return format!("there is no file {shown}: there is no folder {folder}");
    };
    let beside = entries.flatten().map(|entry| entry.file_name());
    let beside: Vec<String> = beside.filter_map(|name| name.into_string().ok()).collect();
    let name = path.file_name().map(|name| name.to_string_lossy());
    let close = nearest(&name.unwrap_or_default(), beside.iter().map(String::as_str));
    let in_folder = |name: &str| folder.map_or_else(|| PathBuf::from(name), |at| at.join(name));
    let close: Vec<String> = close
        .into_iter()
        .map(|name| in_folder(name).display().to_string())
        .collect();
    let close: Vec<&str> = close.iter().map(String::as_str).collect();
    format!("there is no file {shown}{}", hint(&close))
}

/// An error if there is no dataset of this name, or no file where it names one.
pub fn check_dataset(name: &str) -> Result<()> {
    match data::find(name, &OpenOptions::default()) {
        Ok(_) => Ok(()),
        Err(DataError::Io { path, .. }) if !path.exists() => bail!(sentence(&path)),
        Err(error) => Err(error.into()),
    }
}

/// The folder that a path names, if it names one.
fn folder(path: &Path) -> Option<&Path> {
    let parent = path.parent();
    parent.filter(|folder| !folder.as_os_str().is_empty())
}
