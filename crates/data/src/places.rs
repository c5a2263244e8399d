//! The folders in which files of datasets are searched.

use crate::catalog::{DatasetEntry, FileEntry};
use crate::options::OpenOptions;
use std::env;
use std::path::{Path, PathBuf};

/// The folders to look in, in order: the one given, `$MASE_DATA`, the user's cache.
pub(crate) fn roots(options: &OpenOptions) -> Vec<PathBuf> {
    let roots = [
        options.data_dir.clone(),
        variable("MASE_DATA"),
        user_cache(),
    ];
    roots.into_iter().flatten().collect()
}

/// The user's cache folder.
pub(crate) fn user_cache() -> Option<PathBuf> {
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("mase"))
}

fn variable(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The path of each file of the dataset in one of its forms, where found.
pub(crate) fn locate(
    entry: &DatasetEntry,
    files: &[FileEntry],
    roots: &[PathBuf],
) -> Vec<Option<PathBuf>> {
    let folders: Vec<PathBuf> = roots.iter().flat_map(|root| folders(entry, root)).collect();
    let find = |file: &FileEntry| {
        let candidates = folders
            .iter()
            .flat_map(|folder| file.names.iter().map(move |name| folder.join(name)));
        candidates.into_iter().find(|path| path.is_file())
    };
    files.iter().map(find).collect()
}

/// The folder under a root that files are fetched into.
pub(crate) fn own_folder(entry: &DatasetEntry, root: &Path) -> PathBuf {
    match entry.folders.first() {
        Some(folder) if !root.ends_with(folder) => root.join(folder),
        _ => root.to_owned(),
    }
}

/// The folders of a dataset under a root. The root itself counts when it is called like one of them, or when the
/// dataset's files cannot be mistaken for another's.
fn folders(entry: &DatasetEntry, root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = entry
        .folders
        .iter()
        .map(|folder| root.join(folder))
        .collect();
    let is_one = entry.folders.iter().any(|folder| root.ends_with(folder));
    if is_one || entry.has_own_file_names {
        folders.push(root.to_owned());
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_has_a_cache_where_there_is_a_home() {
        let cache = user_cache();
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let has_place = is_set("HOME") || is_set("XDG_CACHE_HOME");
        assert_eq!(cache.is_some(), has_place);
        assert!(cache.is_none_or(|cache| cache.ends_with("mase")));
    }
}
