//! The folder of a run: `mase_output/<model>_<task>_<dataset>_<date>/{software,hardware}`. A second run on the same day
//! gets `_2`, `_3` …; runs are never mixed, and a folder belongs to one process at a time.

use super::{Console, calendar};
use crate::settings::Settings;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value as Json};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// A run's folder, locked for as long as this lives.
#[derive(Debug)]
pub struct Folder {
    /// The folder itself.
    pub path: PathBuf,
    /// Held open: the lock ends with the process, however it ends.
    _lock: File,
}

/// Runs of one name and day; more is a loop gone wrong.
const MAX_RUNS: usize = 10_000;

impl Folder {
    /// Makes a new folder for a run.
    pub fn create(settings: &Settings) -> Result<Self> {
        let parent = &settings.project_dir;
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot make the folder {}", parent.display()))?;
        let name = name(settings);
        for run in 1..=MAX_RUNS {
            let path = parent.join(folder_name(&name, run));
            match fs::create_dir(&path) {
                Ok(()) => return Self::open(path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("cannot make the folder {}", path.display()));
                }
            }
        }
        bail!(
            "{} already has {MAX_RUNS} runs called {name}",
            parent.display()
        )
    }

    /// The newest of today's runs of the same model and dataset, or of the same project, that has something to go on from.
    pub fn latest(settings: &Settings, file: &str) -> Result<PathBuf> {
        let parent = &settings.project_dir;
        let name = name(settings);
        let runs = (1..=MAX_RUNS).map(|run| parent.join(folder_name(&name, run)));
        let has_file = |path: &PathBuf| path.join("software").join(file).exists();
        let runs = runs.take_while(|path| path.exists());
        runs.filter(has_file).last().with_context(|| {
            format!(
                "nothing to resume: {} has no run called {name} with a {file}; name its folder with --resume=FOLDER",
                parent.display()
            )
        })
    }

    /// Opens the folder of an earlier run to go on with it. An empty one is that of a run that was killed at once.
    pub fn resume(path: &Path) -> Result<Self> {
        if !path.exists() {
            bail!(
                "there is no folder {} to go on with; leave --resume out to begin a run",
                path.display()
            );
        }
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if !path.join("software").is_dir() && !is_empty() {
            bail!(
                "{} is not the folder of a run: it has no folder 'software'",
                path.display()
            );
        }
        Self::open(path.to_owned())
    }

    fn open(path: PathBuf) -> Result<Self> {
        for part in ["software", "hardware"] {
            let part = path.join(part);
            fs::create_dir_all(&part)
                .with_context(|| format!("cannot make the folder {}", part.display()))?;
        }
        let name = path.join("software/.lock");
        let lock = open_lock(&name)?;
        match lock.try_lock() {
            Ok(()) => {
                interop::remove_temporary_files(&path)
                    .with_context(|| format!("cannot clear {}", path.display()))?;
                Ok(Self { path, _lock: lock })
            }
            Err(TryLockError::WouldBlock) => bail!(
                "another run is using {}; wait for it or choose another folder",
                path.display()
            ),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", name.display()))
            }
        }
    }

    /// The part for training, testing and searching.
    pub fn software(&self) -> PathBuf {
        self.path.join("software")
    }
}

/// True when a folder holds no file but hidden ones: a run that was killed before it had written anything.
pub fn is_bare(path: &Path) -> bool {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.into_iter().all(|entry| {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_hidden || is_folder && is_bare(&entry.path())
    })
}

/// Opens the file of the lock. Whatever stands in it is left alone, and a link is refused: it would be another's file.
fn open_lock(path: &Path) -> Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        bail!("{} is not a file; remove it", path.display());
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    let named = || format!("cannot write {}", path.display());
    options.open(path).with_context(named)
}

/// Writes a file and the folders above it.
pub fn write_file(path: &Path, bytes: &[u8], console: &mut Console) -> Result<()> {
    let named = || format!("cannot write {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(named)?;
    }
    interop::write_file(path, bytes).with_context(named)?;
    console.debug(&format!("wrote {}", path.display()));
    Ok(())
}

/// Adds facts to the `run.json` of a run, beside those of earlier actions in the same folder.
pub fn record(software: &Path, facts: &Json) -> Result<()> {
    let path = software.join("run.json");
    let known = fs::read_to_string(&path)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    let mut all = match known {
        Some(Json::Object(all)) => all,
        _ => Map::new(),
    };
    for (key, value) in facts.as_object().into_iter().flatten() {
        all.insert(key.clone(), value.clone());
    }
    let text = serde_json::to_string_pretty(&all)? + "\n";
    interop::write_file(&path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The first run has the plain name.
fn folder_name(name: &str, run: usize) -> String {
    if run == 1 {
        name.to_owned()
    } else {
        format!("{name}_{run}")
    }
}

fn name(settings: &Settings) -> String {
    if let Some(project) = &settings.project {
        return project.0.clone();
    }
    let stem = |name: &Option<String>| {
        let text = name.as_deref().unwrap_or("none");
        let file = text.split(':').next().unwrap_or(text);
        Path::new(file).file_stem().map_or_else(
            || file.to_owned(),
            |stem| stem.to_string_lossy().into_owned(),
        )
    };
    format!(
        "{}_classification_{}_{}",
        stem(&settings.model),
        stem(&settings.dataset),
        calendar::today()
    )
}
