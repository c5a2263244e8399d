//! The datasets that are known by name.

use crate::dataset::Dataset;
use crate::download::Check;
use crate::error::DataError;
use crate::open::Request;
use crate::sets::{cifar10, idx_images, jsc, jsc_openml, jsc_sim, toy_tiny};

/// A dataset known by name.
pub struct DatasetEntry {
    /// The name in commands and configs.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line for listings.
    pub about: &'static str,
    /// The axes of one sample.
    pub sample_shape: &'static [usize],
    /// The scaling of its values, in words.
    pub scaling: &'static str,
    /// The classes, in the order of the labels.
    pub classes: &'static [&'static str],
    /// The page that describes it, for people; empty when the program makes it.
    pub page: &'static str,
    /// The generated dataset to offer when the files are not there.
    pub(crate) instead: &'static str,
    /// The folders that its files stand in, under a data folder; files are fetched into the first.
    pub(crate) folders: &'static [&'static str],
    /// True when its files are known by their names alone, in any folder.
    pub(crate) has_own_file_names: bool,
    /// The forms it is published in, the one to fetch first; none when the program makes it.
    pub(crate) forms: &'static [&'static [FileEntry]],
    pub(crate) load: fn(&Request) -> Result<Dataset, DataError>,
}

/// A file of a dataset.
pub(crate) struct FileEntry {
    /// The names it goes by; the first is the one that is fetched.
    pub names: &'static [&'static str],
    /// The place it can be fetched from.
    pub origin: Option<Origin<'static>>,
}

/// The published place of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The address.
    pub url: &'a str,
    /// The published size.
    pub n_bytes: Option<u64>,
    /// The check that the file must pass.
    pub check: Check,
}

impl FileEntry {
    /// A file that cannot be fetched.
    pub const fn local(names: &'static [&'static str]) -> Self {
        Self {
            names,
            origin: None,
        }
    }
}

const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
#[rustfmt::skip]
const CLOTHES: &[&str] = &[
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
];

#[rustfmt::skip]
const THINGS: &[&str] = &[
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
];

/// All datasets.
pub static DATASETS: &[DatasetEntry] = &[
    // jets
    DatasetEntry {
        name: "jsc",
        aliases: &[],
        about: "jets of the labs, from CERN's HDF5 file: 986 806 rows before duplicates are dropped",
        sample_shape: &[16],
        scaling: "standardised by its training part",
        classes: &["g", "q", "w", "z", "t"],
        page: "https://cernbox.cern.ch/s/jvFd5MoWhGs1l5v",
        instead: "'jsc-sim', jets that the program makes",
        folders: &["jsc"],
        has_own_file_names: true,
        forms: &[jsc::FILES],
        load: jsc::load,
    },
    DatasetEntry {
        name: "jsc-openml",
        aliases: &["jsc_openml"],
        about: "jets of OpenML 42468: 830 000 rows, about one point easier than jsc, classes in another order",
        sample_shape: &[16],
        scaling: "standardised by its training part",
        classes: &["g", "q", "t", "w", "z"],
        page: "https://www.openml.org/d/42468",
        instead: "'jsc-sim', jets that the program makes",
        folders: &["jsc-openml", "jsc_openml"],
        has_own_file_names: false,
        forms: &[jsc_openml::TABLE, jsc_openml::ARRAYS],
        load: jsc_openml::load,
    },
    DatasetEntry {
        name: "jsc-sim",
        aliases: &["jsc_sim"],
        about: "jets drawn by the program from the statistics of simulated ones: 100 000 to learn from, 20 000 to test",
        sample_shape: &[16],
        scaling: "drawn standardised",
        classes: &["g", "q", "t", "w", "z"],
        page: "",
        instead: "",
        folders: &[],
        has_own_file_names: false,
        forms: &[],
        load: |request| Ok(jsc_sim::load(request)),
    },
    // images
    DatasetEntry {
        name: "mnist",
        aliases: &[],
        about: "handwritten digits: 60 000 images of 28 x 28 to learn from, 10 000 to test",
        sample_shape: &[1, 28, 28],
        scaling: "bytes over 255",
        classes: DIGITS,
        page: "http://yann.lecun.com/exdb/mnist/",
        instead: "'toy_tiny', images that the program makes",
        folders: &["mnist", "MNIST/raw"],
        has_own_file_names: false,
        forms: &[idx_images::MNIST],
        load: idx_images::load,
    },
    DatasetEntry {
        name: "fashion_mnist",
        aliases: &["fashion-mnist"],
        about: "clothes: 60 000 images of 28 x 28 to learn from, 10 000 to test",
        sample_shape: &[1, 28, 28],
        scaling: "bytes over 255",
        classes: CLOTHES,
        page: "https://github.com/zalandoresearch/fashion-mnist",
        instead: "'toy_tiny', images that the program makes",
        folders: &["fashion_mnist", "fashion-mnist", "FashionMNIST/raw"],
        has_own_file_names: false,
        forms: &[idx_images::FASHION_MNIST],
        load: idx_images::load,
    },
    DatasetEntry {
        name: "cifar10",
        aliases: &["cifar-10"],
        about: "things: 50 000 color images of 32 x 32 to learn from, 10 000 to test",
        sample_shape: &[3, 32, 32],
        scaling: "bytes over 255",
        classes: THINGS,
        page: "https://www.cs.toronto.edu/~kriz/cifar.html",
        instead: "'toy_tiny', images that the program makes",
        folders: &[
            "cifar10",
            "cifar-10-batches-bin",
            "cifar10/cifar-10-batches-bin",
        ],
        has_own_file_names: true,
        forms: &[cifar10::ARCHIVE, cifar10::BATCHES],
        load: cifar10::load,
    },
    DatasetEntry {
        name: "toy_tiny",
        aliases: &["toy-tiny"],
        about: "images of 28 x 28 drawn by the program: a bright spot above the middle or below it",
        sample_shape: &[1, 28, 28],
        scaling: "drawn between 0 and 1",
        classes: &["above", "below"],
        page: "",
        instead: "",
        folders: &[],
        has_own_file_names: false,
        forms: &[],
        load: |request| Ok(toy_tiny::load(request)),
    },
];

impl DatasetEntry {
    pub(crate) fn class_names(&self) -> Vec<String> {
        self.classes.iter().map(ToString::to_string).collect()
    }
}
