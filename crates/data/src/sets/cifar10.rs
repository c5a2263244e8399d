//! `cifar10`: its binary version, as the archive or unpacked; bytes over 255.

use crate::catalog::{FileEntry, Origin};
use crate::dataset::{Dataset, Rows};
use crate::download::Check;
use crate::error::DataError;
use crate::open::Request;
use crate::prepare;
use interop::Budget;
use interop::columns::TableProblem;
use interop::tar;
use std::fs::{self, File};
use std::io;
use std::path::Path;

const PIXELS: usize = 3 * 32 * 32;
/// A byte of label, then the red, the green and the blue plane.
const RECORD: usize = 1 + PIXELS;
/// Ten thousand records are a file; ten times that is refused.
const MAX_BYTES: u64 = 100_000 * RECORD as u64;
const TEST_FILE: &str = "test_batch.bin";

/// The archive, which is the form that is fetched.
pub(crate) const ARCHIVE: &[FileEntry] = &[FileEntry {
    names: &["cifar-10-binary.tar.gz"],
    origin: Some(Origin {
        url: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        n_bytes: Some(170_052_171),
        check: Check::Sha256("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
    }),
}];

/// The files in the archive.
pub(crate) const BATCHES: &[FileEntry] = &[
    FileEntry::local(&["data_batch_1.bin"]),
    FileEntry::local(&["data_batch_2.bin"]),
    FileEntry::local(&["data_batch_3.bin"]),
    FileEntry::local(&["data_batch_4.bin"]),
    FileEntry::local(&["data_batch_5.bin"]),
    FileEntry::local(&[TEST_FILE]),
];

/// Reads the archive or the batches.
pub(crate) fn load(request: &Request) -> Result<Dataset, DataError> {
    let n_classes = request.entry.classes.len();
    let mut batches = Batches {
        train: Images::default(),
        test: Images::default(),
        n_classes,
    };
    for path in &request.paths {
        batches.read(path)?;
    }
    let (n_train, n_test) = (batches.train.labels.len(), batches.test.labels.len());
    if n_train == 0 || n_test == 0 {
        return Err(DataError::Content {
            path: request.paths[0].clone(),
            message: format!("has {n_train} images to learn from and {n_test} to test"),
        });
    }
    let mut rows = Rows {
        values: batches.train.values,
        labels: batches.train.labels,
        width: PIXELS,
    };
    rows.values.append(&mut batches.test.values);
    rows.labels.append(&mut batches.test.labels);
    let info = request.info(Vec::new());
    let parts = prepare::split_given(n_train, n_test);
    Ok(prepare::assemble(
        info,
        rows,
        &parts,
        request.options.val_split,
    ))
}

#[derive(Default)]
struct Images {
    values: Vec<f32>,
    labels: Vec<u32>,
}

struct Batches {
    train: Images,
    test: Images,
    n_classes: usize,
}

impl Batches {
    fn read(&mut self, path: &Path) -> Result<(), DataError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let read = if is_batch(&name) {
            plain(path).and_then(|bytes| self.append(&name, &bytes))
        } else {
            self.unpack(path)
        };
        read.map_err(|problem| problem.of(path).into())
    }

    fn unpack(&mut self, path: &Path) -> Result<(), TableProblem> {
        let file = File::open(path)?;
        let budget = &Budget::of_size(file.metadata()?.len());
        tar::visit(file, MAX_BYTES, budget, |name, bytes| {
            let name = name.rsplit('/').next().unwrap_or(name);
            if is_batch(name) {
                // Every byte becomes a float.
                budget.take_array(bytes.len(), size_of::<f32>())?;
                self.append(name, bytes)
            } else {
                Ok(())
            }
        })
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), TableProblem> {
        let wrong = |message: String| TableProblem::Place {
            place: name.to_owned(),
            message,
        };
        if bytes.is_empty() || !bytes.len().is_multiple_of(RECORD) {
            return Err(wrong(format!(
                "has {} bytes, not a multiple of {RECORD}",
                bytes.len()
            )));
        }
        let images = if name == TEST_FILE {
            &mut self.test
        } else {
            &mut self.train
        };
        for (row, record) in (1..).zip(bytes.chunks_exact(RECORD)) {
            if usize::from(record[0]) >= self.n_classes {
                return Err(wrong(format!(
                    "label {row} is {}; there are {} classes",
                    record[0], self.n_classes
                )));
            }
            images.labels.push(u32::from(record[0]));
            images
                .values
                .extend(record[1..].iter().map(|&pixel| f32::from(pixel) / 255.0));
        }
        Ok(())
    }
}

fn is_batch(name: &str) -> bool {
    BATCHES.iter().any(|file| file.names.contains(&name))
}

fn plain(path: &Path) -> Result<Vec<u8>, TableProblem> {
    let n_bytes = fs::metadata(path)?.len();
    if n_bytes > MAX_BYTES {
        return Err(TableProblem::TooLarge {
            what: "bytes",
            got: n_bytes,
            limit: MAX_BYTES,
        });
    }
    fs::read(path).map_err(io::Error::into)
}
