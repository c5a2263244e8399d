//! From a name to a dataset.

use crate::arrays;
use crate::catalog::{DATASETS, DatasetEntry, FileEntry};
use crate::dataset::{Dataset, Info};
use crate::download;
use crate::error::{DataError, Missing};
use crate::options::OpenOptions;
use crate::places;
use crate::preparation::Scaling;
use crate::sets::{array_file, file};
use config::{Sort, did_you_mean, is_same_name, not_here};
use interop::columns::TableProblem;
use std::path::PathBuf;

/// The place of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// The program makes it.
    BuiltIn,
    /// In these files.
    Found(Vec<PathBuf>),
    /// Nowhere yet.
    Missing {
        /// The files that were not found.
        files: Vec<&'static str>,
        /// The folders that were looked in.
        looked_in: Vec<PathBuf>,
        /// True when they can be fetched.
        can_download: bool,
    },
}

/// The files and options that an entry is loaded from.
pub(crate) struct Request<'a> {
    pub entry: &'static DatasetEntry,
    pub options: &'a OpenOptions<'a>,
    /// One path for each file of the form that was found.
    pub paths: Vec<PathBuf>,
}

impl Request<'_> {
    /// The description of the entry, with these columns, read from the files.
    pub fn info(&self, features: Vec<String>) -> Info {
        self.info_of(features, self.source())
    }

    /// The description of the entry, made by the program from the seed.
    pub fn generated_info(&self) -> Info {
        let seed = self.options.seed;
        self.info_of(Vec::new(), format!("made by the program from seed {seed}"))
    }

    fn info_of(&self, features: Vec<String>, source: String) -> Info {
        Info {
            name: self.entry.name.to_owned(),
            sample_shape: self.entry.sample_shape.to_vec(),
            classes: self.entry.class_names(),
            features,
            source,
            hash: 0,
            scaling: Scaling::Own(self.entry.scaling),
        }
    }

    /// The files, for people.
    fn source(&self) -> String {
        let paths: Vec<String> = self
            .paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        paths.join(", ")
    }
}

/// Opens the dataset of this name, or the file of this name with its label column: `jets.csv:class`.
pub fn open(name: &str, options: &OpenOptions) -> Result<Dataset, DataError> {
    if let Some((path, label)) = file::parse_name(name) {
        if !arrays::is_table(options.inputs) {
            return array_file::open(name, &path, label, options);
        }
        let table = file::open(name, &path, label, options);
        // What no single input can be fed with may still be described.
        return match table {
            Err(DataError::Table(error))
                if options.inputs.is_empty()
                    && matches!(error.problem, TableProblem::FeatureArrays(2..)) =>
            {
                array_file::open(name, &path, label, options)
            }
            table => table,
        };
    }
    let entry = entry(name)?;
    open_entry(entry, options, &places::roots(options))
}

/// True for the name of a file with its label column.
pub fn is_file(name: &str) -> bool {
    file::parse_name(name).is_some()
}

/// Finds the place of the dataset of this name.
pub fn find(name: &str, options: &OpenOptions) -> Result<Where, DataError> {
    if let Some((path, _)) = file::parse_name(name) {
        return existing(path).map(|path| Where::Found(vec![path]));
    }
    let entry = entry(name)?;
    let roots = places::roots(options);
    Ok(match locate(entry, &roots) {
        Some(_) if entry.forms.is_empty() => Where::BuiltIn,
        Some(paths) => Where::Found(paths),
        None => Where::Missing {
            files: missing_files(entry, &roots),
            can_download: can_download(entry),
            looked_in: roots,
        },
    })
}

/// Sees to it that the files of a dataset are there, and fetches those that are not; gives all of them.
pub fn get(name: &str, options: &OpenOptions) -> Result<Vec<PathBuf>, DataError> {
    if let Some((path, _)) = file::parse_name(name) {
        return existing(path).map(|path| vec![path]);
    }
    files(entry(name)?, options, &places::roots(options))
}

fn existing(path: PathBuf) -> Result<PathBuf, DataError> {
    match std::fs::metadata(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(DataError::Io { path, error }),
    }
}

/// The entry of this name or alias.
pub(crate) fn entry(name: &str) -> Result<&'static DatasetEntry, DataError> {
    let has_name = |entry: &&DatasetEntry| {
        let names = [entry.name].into_iter();
        let mut names = names.chain(entry.aliases.iter().copied());
        names.any(|known| is_same_name(known, name))
    };
    DATASETS.iter().find(has_name).ok_or_else(|| {
        let names = DATASETS.iter().map(|entry| entry.name);
        let hint = did_you_mean(name, names);
        if let Some(reason) = not_here(Sort::Dataset, name) {
            return DataError::NotHere(reason);
        }
        let hint = if hint.is_empty() {
            "; a file is opened by FILE:LABEL, as in jets.csv:class".to_owned()
        } else {
            hint
        };
        DataError::Unknown {
            name: name.to_owned(),
            hint,
        }
    })
}

pub(crate) fn open_entry(
    entry: &'static DatasetEntry,
    options: &OpenOptions,
    roots: &[PathBuf],
) -> Result<Dataset, DataError> {
    let paths = files(entry, options, roots)?;
    (entry.load)(&Request {
        entry,
        options,
        paths,
    })
}

/// The files of the first form of which every one is there. A dataset without files is always there.
fn locate(entry: &DatasetEntry, roots: &[PathBuf]) -> Option<Vec<PathBuf>> {
    if entry.forms.is_empty() {
        return Some(Vec::new());
    }
    let paths = |files: &&[FileEntry]| places::locate(entry, files, roots).into_iter().collect();
    entry.forms.iter().find_map(paths)
}

/// The files of the dataset, fetched if need be.
fn files(
    entry: &DatasetEntry,
    options: &OpenOptions,
    roots: &[PathBuf],
) -> Result<Vec<PathBuf>, DataError> {
    if let Some(paths) = locate(entry, roots) {
        return Ok(paths);
    }
    if options.is_offline() {
        return Err(missing(
            entry,
            roots,
            " and the network may not be used (--offline or MASE_OFFLINE)",
        ));
    }
    if !can_download(entry) {
        return Err(missing(entry, roots, ""));
    }
    fetch(entry, options, roots)
        .map_err(|error| missing(entry, roots, &format!(" and cannot be fetched ({error})")))?;
    locate(entry, roots).ok_or_else(|| missing(entry, roots, ""))
}

fn can_download(entry: &DatasetEntry) -> bool {
    entry.forms[0].iter().all(|file| file.origin.is_some())
}

fn fetch(entry: &DatasetEntry, options: &OpenOptions, roots: &[PathBuf]) -> Result<(), DataError> {
    let files = entry.forms[0];
    let folder = roots.first().map(|root| places::own_folder(entry, root));
    let absent = files
        .iter()
        .zip(places::locate(entry, files, roots))
        .filter(|(_, path)| path.is_none());
    for (file, _) in absent {
        if let (Some(origin), Some(folder)) = (&file.origin, &folder) {
            download::fetch(origin, &folder.join(file.names[0]), options)?;
        }
    }
    Ok(())
}

fn missing_files(entry: &DatasetEntry, roots: &[PathBuf]) -> Vec<&'static str> {
    let files: &'static [FileEntry] = entry.forms[0];
    let paths = places::locate(entry, files, roots);
    let absent = files.iter().zip(paths).filter(|(_, path)| path.is_none());
    absent.map(|(file, _)| file.names[0]).collect()
}

fn missing(entry: &DatasetEntry, roots: &[PathBuf], why: &str) -> DataError {
    let looked_in: Vec<String> = roots
        .iter()
        .map(|root| root.display().to_string())
        .collect();
    let looked_in = if looked_in.is_empty() {
        "any folder".to_owned()
    } else {
        looked_in.join(", ")
    };
    let folder = roots.first().map(|root| places::own_folder(entry, root));
    let place = folder.map_or_else(
        || "into the folder of --data-dir".to_owned(),
        |folder| format!("into {}", folder.display()),
    );
    DataError::Missing(Box::new(Missing {
        name: entry.name.to_owned(),
        files: missing_files(entry, roots).join(", "),
        looked_in,
        why: why.to_owned(),
        advice: format!("put it {place} (from {})", entry.page),
        instead: entry.instead,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Origin;
    use crate::download::Check;

    const UNREACHABLE_FILE: FileEntry = FileEntry {
        names: &["far.csv"],
        origin: Some(Origin {
            url: "http://127.0.0.1:1/far.csv",
            n_bytes: None,
            check: Check::Sha256("00ff"),
        }),
    };

    const UNREACHABLE: DatasetEntry = DatasetEntry {
        name: "far",
        aliases: &[],
        about: "",
        sample_shape: &[1],
        scaling: "",
        classes: &[],
        page: "http://127.0.0.1/far",
        instead: "'jsc-sim', jets that the program makes",
        folders: &["far"],
        has_own_file_names: false,
        // Nothing listens on port 1.
        forms: &[&[UNREACHABLE_FILE]],
        load: |_| unreachable!("there is nothing to load"),
    };

    #[test]
    fn without_network_and_files_one_sentence_says_what_to_do() {
        let root = std::env::temp_dir().join(format!("data-open-{}", std::process::id()));
        let error = open_entry(&FAR, &OpenOptions::default(), std::slice::from_ref(&root));
        let message = error.map(|_| ()).unwrap_err().to_string();
        let start = format!(
            "dataset 'far' needs far.csv, which is not in {} and cannot be fetched (http://127.0.0.1:1/far.csv: ",
            root.display()
        );
        assert!(message.starts_with(&start), "{message}");
        let end = format!(
            "; put it into {} (from http://127.0.0.1/far), or use 'jsc-sim', jets that the program makes",
            root.join("far").display()
        );
        assert!(message.ends_with(&end), "{message}");
        std::fs::remove_dir_all(root).unwrap();
    }

    static FAR: DatasetEntry = UNREACHABLE;
    static LOCAL: DatasetEntry = DatasetEntry {
        name: "near",
        page: "the shelf",
        forms: &[&[FileEntry::local(&["near.csv"]), UNREACHABLE_FILE]],
        ..UNREACHABLE
    };

    /// A dataset that is published nowhere is not asked for.
    #[test]
    fn a_file_without_an_address_is_not_fetched() {
        assert!(can_download(&FAR) && !can_download(&LOCAL));
        let root = std::env::temp_dir().join(format!("data-local-{}", std::process::id()));
        let opened = open_entry(&LOCAL, &OpenOptions::default(), std::slice::from_ref(&root));
        let message = opened.map(|_| ()).unwrap_err().to_string();
        let expected = format!(
            "dataset 'near' needs near.csv, far.csv, which is not in {}; put it into {} (from the shelf), or use {}",
            root.display(),
            root.join("far").display(),
            LOCAL.instead
        );
        assert_eq!(message, expected);
        assert!(!root.exists());
    }

    #[test]
    fn what_the_program_makes_is_built_in() {
        let offline = OpenOptions {
            offline: true,
            ..OpenOptions::default()
        };
        assert!(offline.is_offline());
        for known in DATASETS.iter().filter(|known| known.forms.is_empty()) {
            assert_eq!(find(known.name, &offline).unwrap(), Where::BuiltIn);
            assert!(get(known.name, &offline).unwrap().is_empty());
        }
    }

    #[test]
    fn a_file_is_named_with_its_label() {
        for (name, expected) in [
            ("jets.csv:class", true),
            ("jets.csv", false),
            ("jets.doc:class", false),
            ("mnist", false),
        ] {
            assert_eq!(is_file(name), expected, "{name}");
        }
    }

    #[test]
    fn every_entry_can_be_found_by_its_names() {
        for known in DATASETS {
            for name in known.aliases.iter().chain([&known.name]) {
                assert_eq!(entry(name).unwrap().name, known.name);
            }
            let has_way_out = !known.instead.is_empty() && !known.page.is_empty();
            assert_eq!(has_way_out, !known.forms.is_empty(), "{}", known.name);
        }
    }
}
