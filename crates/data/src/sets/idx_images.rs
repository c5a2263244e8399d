//! `mnist` and `fashion_mnist`: images in IDX files, as bytes over 255.

use crate::catalog::{FileEntry, Origin};
use crate::dataset::{Dataset, Rows};
use crate::download::Check;
use crate::error::DataError;
use crate::open::Request;
use crate::prepare;
use interop::idx;
use std::path::Path;

const SIDE: usize = 28;

const TRAIN_IMAGES: &[&str] = &[
    "train-images-idx3-ubyte.gz",
    "train-images-idx3-ubyte",
    "train-images.idx3-ubyte",
];
const TRAIN_LABELS: &[&str] = &[
    "train-labels-idx1-ubyte.gz",
    "train-labels-idx1-ubyte",
    "train-labels.idx1-ubyte",
];
const TEST_IMAGES: &[&str] = &[
    "t10k-images-idx3-ubyte.gz",
    "t10k-images-idx3-ubyte",
    "t10k-images.idx3-ubyte",
];
const TEST_LABELS: &[&str] = &[
    "t10k-labels-idx1-ubyte.gz",
    "t10k-labels-idx1-ubyte",
    "t10k-labels.idx1-ubyte",
];

macro_rules! files {
    ($base:literal: $($names:ident $name:literal $n_bytes:literal $sha256:literal),*) => {
        &[$(FileEntry {
            names: $names,
            origin: Some(Origin {
                url: concat!($base, $name),
                n_bytes: Some($n_bytes),
                check: Check::Sha256($sha256),
            }),
        }),*]
    };
}

/// The files of `mnist`: images and labels to learn from, images and labels to test.
pub(crate) const MNIST: &[FileEntry] = files!["https://ossci-datasets.s3.amazonaws.com/mnist/":
    TRAIN_IMAGES "train-images-idx3-ubyte.gz" 9_912_422 "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    TRAIN_LABELS "train-labels-idx1-ubyte.gz" 28_881 "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    TEST_IMAGES "t10k-images-idx3-ubyte.gz" 1_648_877 "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    TEST_LABELS "t10k-labels-idx1-ubyte.gz" 4_542 "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
];

/// The files of `fashion_mnist`, in the same order.
pub(crate) const FASHION_MNIST: &[FileEntry] = files!["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/":
    TRAIN_IMAGES "train-images-idx3-ubyte.gz" 26_421_880 "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    TRAIN_LABELS "train-labels-idx1-ubyte.gz" 29_515 "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    TEST_IMAGES "t10k-images-idx3-ubyte.gz" 4_422_102 "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    TEST_LABELS "t10k-labels-idx1-ubyte.gz" 5_148 "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
];

/// Reads the four files.
pub(crate) fn load(request: &Request) -> Result<Dataset, DataError> {
    let n_classes = request.entry.classes.len();
    let mut rows = Rows {
        values: Vec::new(),
        labels: Vec::new(),
        width: SIDE * SIDE,
    };
    let mut counts = [0; 2];
    for (count, pair) in counts.iter_mut().zip(request.paths.chunks_exact(2)) {
        let before = rows.labels.len();
        append(&mut rows, &pair[0], &pair[1], n_classes)?;
        *count = rows.labels.len() - before;
    }
    let info = request.info(Vec::new());
    let parts = prepare::split_given(counts[0], counts[1]);
    Ok(prepare::assemble(
        info,
        rows,
        &parts,
        request.options.val_split,
    ))
}

fn append(
    rows: &mut Rows,
    images: &Path,
    labels: &Path,
    n_classes: usize,
) -> Result<(), DataError> {
    let wrong = |path: &Path, message: String| DataError::Content {
        path: path.to_owned(),
        message,
    };
    let pixels = idx::read(images)?;
    let codes = idx::read(labels)?;
    let &[n_images, SIDE, SIDE] = pixels.shape.as_slice() else {
        let message = format!(
            "has shape {:?}; images of {SIDE} x {SIDE} were expected",
            pixels.shape
        );
        return Err(wrong(images, message));
    };
    if n_images == 0 {
        return Err(wrong(images, "has no images".to_owned()));
    }
    if codes.shape != [n_images] {
        let message = format!(
            "has shape {:?}; {} has {n_images} images",
            codes.shape,
            images.display()
        );
        return Err(wrong(labels, message));
    }
    if let Some(row) = codes
        .values
        .iter()
        .position(|&code| usize::from(code) >= n_classes)
    {
        let message = format!(
            "label {} is {}; there are {n_classes} classes",
            row + 1,
            codes.values[row]
        );
        return Err(wrong(labels, message));
    }
    rows.values.reserve_exact(pixels.values.len());
    rows.values
        .extend(pixels.values.iter().map(|&pixel| f32::from(pixel) / 255.0));
    rows.labels
        .extend(codes.values.iter().map(|&code| u32::from(code)));
    Ok(())
}
