//! The rows of a run: opened, prepared as the network was trained, and described in one line.

use crate::output::Console;
use crate::settings::{self, Settings};
use crate::{checkpoints, missing, pipeline};
use anyhow::{Context, Result, bail};
use data::{Dataset, OpenOptions, Preparation, Split, SplitName, Standardize};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Whole numbers above this are not taken for the places of classes.
const MAX_PLACE: usize = 10_000;

/// The help of the option that names a part.
pub const SPLIT_HELP: &str =
    "Rows to run on; the test rows of a named dataset, all rows of a file if not given";

/// The part of the rows that a network is run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The rows to train on.
    Train,
    /// The rows to choose by.
    Val,
    /// The rows to report on.
    Test,
    /// All rows.
    All,
}

impl Part {
    /// The rows of the part.
    fn rows(self, data: &Dataset) -> Split {
        let name = match self {
            Self::Train => SplitName::Train,
            Self::Val => SplitName::Val,
            Self::Test => SplitName::Test,
            Self::All => return data.whole(),
        };
        data.split(name).clone()
    }

    /// The part in a sentence about `count` of `all` rows.
    fn describe(self, count: usize, all: usize) -> String {
        let name = match self {
            Self::Train => SplitName::Train,
            Self::Val => SplitName::Val,
            Self::Test => SplitName::Test,
            Self::All => return format!("all {all} rows"),
        };
        format!("{count} {} rows of {all}", name.long_name())
    }
}

/// The options of a command that opens a dataset and has no settings.
#[derive(Clone, Debug, clap::Args)]
pub struct DataArgs {
    #[arg(
        long,
        value_name = "FOLDER",
        help = "Folder with datasets; $MASE_DATA if not given"
    )]
    data_dir: Option<PathBuf>,
    #[arg(
        long,
        help = "Fetch nothing; a dataset whose files are not there is an error. $MASE_OFFLINE=1 does the same"
    )]
    offline: bool,
}

impl DataArgs {
    /// The options with these places.
    pub fn apply<'a>(&self, options: OpenOptions<'a>) -> OpenOptions<'a> {
        OpenOptions {
            data_dir: self.data_dir.clone(),
            offline: self.offline,
            ..options
        }
    }
}

/// Calls `open` with options that report notices and downloads to the console.
pub fn reporting<T>(console: &mut Console, open: impl FnOnce(OpenOptions) -> T) -> T {
    let console = RefCell::new(console);
    open(OpenOptions {
        progress: Some(&|file, have, all| console.borrow_mut().transfer(file, have, all)),
        notice: Some(&|sentence| console.borrow_mut().note(sentence)),
        ..OpenOptions::default()
    })
}

/// The dataset of a run that learns from it, or uses all its splits.
pub fn open(settings: &Settings, learns: bool, console: &mut Console) -> Result<Dataset> {
    let data = open_prepared(settings, learns, false, console)?;
    let [train, val, test] = [&data.train, &data.val, &data.test].map(Split::len);
    describe(
        &data,
        &format!("{train} training, {val} validation, {test} test rows"),
        console,
    );
    Ok(data)
}

/// The rows of an opened dataset that a trained network is run on.
pub fn part(data: &Dataset, settings: &Settings, asked: Option<Part>) -> Split {
    asked.unwrap_or_else(|| usual_part(settings)).rows(data)
}

/// The test rows of a named set, the whole of a file.
fn usual_part(settings: &Settings) -> Part {
    let is_file = settings.dataset.as_deref().is_some_and(data::is_file);
    if is_file { Part::All } else { Part::Test }
}

/// The part of a dataset that a trained network is run on: the one asked for, else the test rows of a named set and the
/// whole of a file.
pub fn open_part(
    settings: &Settings,
    asked: Option<Part>,
    console: &mut Console,
) -> Result<(Dataset, Split)> {
    let part = asked.unwrap_or_else(|| usual_part(settings));
    let data = open_prepared(settings, false, part == Part::All, console)?;
    let rows = part.rows(&data);
    describe(
        &data,
        &part.describe(rows.len(), data.whole().len()),
        console,
    );
    if rows.is_empty() {
        bail!(
            "dataset {} has no such rows; name another --split",
            data.info.name
        );
    }
    let trained_on = preparation(settings)?.dataset;
    if part == Part::All && trained_on.as_deref() == settings.dataset.as_deref() {
        console.note(
            "the network was trained on rows of this dataset; --split test takes those it has not seen",
        );
    }
    Ok((data, rows))
}

/// All rows of a file of arrays without labels, prepared as the network was trained.
pub fn open_arrays(settings: &Settings, path: &Path, console: &mut Console) -> Result<Dataset> {
    missing::check(path)?;
    let inputs = pipeline::network_inputs(settings)?;
    let standardize = standardize(settings, &preparation(settings)?, false);
    if standardize == Standardize::Train {
        bail!(
            "{} has no training part to standardise by; leave --standardize out",
            path.display()
        );
    }
    let data = reporting(console, |options| {
        let options = OpenOptions {
            inputs: &inputs,
            standardize,
            ..options
        };
        data::open_unlabeled(path, &options)
    })?;
    let (rows, scaling) = (data.train.len(), &data.info.scaling);
    let line = format!("{}: all {rows} rows ({scaling})", path.display());
    console.print(&line);
    Ok(data)
}

fn describe(data: &Dataset, rows: &str, console: &mut Console) {
    let info = &data.info;
    console.print(&format!(
        "{}: {rows} ({}; {})",
        info.name, info.source, info.scaling
    ));
}

/// Opens the dataset, standardised and with its classes in the order of the network.
fn open_prepared(
    settings: &Settings,
    learns: bool,
    is_whole: bool,
    console: &mut Console,
) -> Result<Dataset> {
    let name = pipeline::dataset_name(settings)?;
    let preparation = preparation(settings)?;
    let inputs = pipeline::network_inputs(settings)?;
    let val_split = match settings.val_split {
        settings::ValSplit::Train => data::ValSplit::Train,
        settings::ValSplit::HeldOut => data::ValSplit::HeldOut,
    };
    let opened = reporting(console, |options| {
        let options = OpenOptions {
            data_dir: settings.data_dir.clone(),
            offline: settings.offline,
            val_split,
            standardize: standardize(settings, &preparation, learns),
            is_whole,
            inputs: &inputs,
            ..options
        };
        data::open(name, &options)
    })?;
    if learns {
        return Ok(in_order(opened, preparation.classes, console));
    }
    let classes = preparation.classes.or_else(|| places(&opened));
    Ok(in_order(opened, classes, console))
}

/// The standardising of a table: as asked for, else as the network was trained, else by the rows it learns from.
pub fn standardize(settings: &Settings, trained: &Preparation, learns: bool) -> Standardize {
    match (settings.standardize, &trained.standardizer) {
        (settings::Standardize::Auto, Some(standardizer)) => Standardize::By(standardizer.clone()),
        (settings::Standardize::Train, _) => Standardize::Train,
        (settings::Standardize::Auto, None) if learns => Standardize::Train,
        (settings::Standardize::Auto | settings::Standardize::None, _) => Standardize::None,
    }
}

/// The preparation of the rows that the network of a run was trained on; empty where nothing is known of it.
pub fn preparation(settings: &Settings) -> Result<Preparation> {
    match pipeline::weights_path(settings)? {
        Some(path) => preparation_of(&path),
        None => Ok(Preparation::default()),
    }
}

/// The preparation that a file of weights holds.
pub fn preparation_of(path: &Path) -> Result<Preparation> {
    let file = interop::checkpoint::read(path, None)?;
    checkpoints::preparation(&file).with_context(|| path.display().to_string())
}

/// The dataset with its classes in the order that the network was trained with.
fn in_order(data: Dataset, classes: Option<Vec<String>>, console: &mut Console) -> Dataset {
    let Some(classes) = classes.filter(|classes| data.orders_otherwise(classes)) else {
        return data;
    };
    let is_prefix = classes.starts_with(&data.info.classes);
    if !is_prefix {
        console.note(&format!(
            "the checkpoint was trained with the classes {}; those of {}, {}, are taken in its order",
            classes.join(" "),
            data.info.name,
            data.info.classes.join(" ")
        ));
    }
    data.with_class_order(&classes)
}

/// The classes of labels that are whole numbers, which are places among a network's outputs: those that do not occur
/// included.
fn places(data: &Dataset) -> Option<Vec<String>> {
    let numbers = data.info.classes.iter().map(|name| name.parse().ok());
    let numbers: Option<Vec<usize>> = numbers.collect();
    let last = *numbers?.iter().max()?;
    let is_named_set = matches!(data.info.scaling, data::Scaling::Own(_));
    (!is_named_set && last <= MAX_PLACE)
        .then(|| (0..=last).map(|place| place.to_string()).collect())
}
