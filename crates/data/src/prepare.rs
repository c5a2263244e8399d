//! From raw rows to a dataset: duplicates dropped, split, standardised.

use crate::dataset::{Dataset, Info, Rows, Source, Split};
use crate::hash;
use crate::options::ValSplit;
use random::Random;
use std::sync::Arc;

/// Part of the rows that is held for testing, and part of the rest that is held for validation, one in so many.
const TEST_ONE_IN: usize = 5;
const VAL_ONE_IN: usize = 10;
/// The seed of every split, so that accuracies of different runs can be compared.
const SPLIT_SEED: u64 = 42;

/// Fewer rows cannot be split in three.
pub(crate) const MIN_ROWS: usize = 10;

/// The part a row belongs to.
pub(crate) const TRAIN: u8 = 0;
pub(crate) const VAL: u8 = 1;
pub(crate) const TEST: u8 = 2;

/// The message for a file with fewer than [`MIN_ROWS`].
pub(crate) fn too_few(n_rows: usize) -> String {
    format!("has {n_rows} rows; at least {MIN_ROWS} are needed to train, validate and test")
}

/// Keeps the first of rows that agree in all features and the label; gives the number of rows dropped.
///
/// Zeros of both signs agree. Rows are compared after rounding to f32.
pub(crate) fn drop_duplicates(rows: &mut Rows) -> usize {
    const EMPTY: u32 = u32::MAX;
    let width = rows.width;
    let n_rows = rows.labels.len();
    let mask = (n_rows * 2).next_power_of_two() - 1;
    let mut slots = vec![EMPTY; mask + 1];
    let mut kept = 0;
    for row in 0..n_rows {
        let (before, from_here) = rows.values.split_at_mut(row * width);
        let candidate = &mut from_here[..width];
        // Adding zero turns -0 into +0 and leaves every other number as it is.
        for value in &mut *candidate {
            *value += 0.0;
        }
        let label = rows.labels[row];
        let mut slot = row_hash(candidate, label) as usize & mask;
        let is_new = loop {
            let other = slots[slot] as usize;
            if slots[slot] == EMPTY {
                break true;
            }
            if rows.labels[other] == label && before[other * width..][..width] == *candidate {
                break false;
            }
            slot = (slot + 1) & mask;
        };
        if is_new {
            slots[slot] = kept as u32;
            rows.values
                .copy_within(row * width..(row + 1) * width, kept * width);
            rows.labels[kept] = label;
            kept += 1;
        }
    }
    rows.values.truncate(kept * width);
    rows.labels.truncate(kept);
    n_rows - kept
}

fn row_hash(values: &[f32], label: u32) -> u64 {
    let hash = values.iter().fold(u64::from(label), |hash, value| {
        hash::mix(hash, u64::from(value.to_bits()))
    });
    hash ^ (hash >> 29)
}

/// The part of each of `n_rows` rows: one fifth for testing, one tenth of the rest for validation.
pub(crate) fn split(n_rows: usize) -> Vec<u8> {
    let order = shuffled(n_rows);
    let n_test = n_rows.div_ceil(TEST_ONE_IN);
    let n_val = (n_rows - n_test).div_ceil(VAL_ONE_IN);
    mark(&order, n_test, n_val)
}

/// The part of each row when the last `n_test` are for testing already.
pub(crate) fn split_given(n_train: usize, n_test: usize) -> Vec<u8> {
    let mut parts = mark(&shuffled(n_train), 0, n_train.div_ceil(VAL_ONE_IN));
    parts.resize(n_train + n_test, TEST);
    parts
}

fn mark(order: &[u32], n_test: usize, n_val: usize) -> Vec<u8> {
    let mut parts = vec![TRAIN; order.len()];
    let (test, rest) = order.split_at(n_test);
    for &row in test {
        parts[row as usize] = TEST;
    }
    for &row in &rest[..n_val] {
        parts[row as usize] = VAL;
    }
    parts
}

/// Fisher and Yates' shuffle of the numbers below `n`.
fn shuffled(n: usize) -> Vec<u32> {
    let random = Random::new(SPLIT_SEED, "split");
    let mut order: Vec<u32> = (0..n as u32).collect();
    for last in (1..n).rev() {
        let wide = u128::from(random.bits(last as u64)) * (last as u128 + 1);
        order.swap(last, (wide >> 64) as usize);
    }
    order
}

/// A dataset of prepared rows. The hash is worked out here.
pub(crate) fn assemble(mut info: Info, rows: Rows, parts: &[u8], val_split: ValSplit) -> Dataset {
    info.hash = hash::dataset(&rows.values, &rows.labels, parts);
    divide(info, &Source::Table(Arc::new(rows)), parts, val_split)
}

/// A dataset of rows whose hash is known.
pub(crate) fn divide(
    mut info: Info,
    source: &Source,
    parts: &[u8],
    val_split: ValSplit,
) -> Dataset {
    let numbered = |wanted: &[u8]| -> Vec<u32> {
        let of_part = (0_u32..)
            .zip(parts)
            .filter(|(_, part)| wanted.contains(part));
        of_part.map(|(row, _)| row).collect()
    };
    let (train, val): (&[u8], &[u8]) = match val_split {
        ValSplit::HeldOut => (&[TRAIN], &[VAL]),
        ValSplit::Train => (&[TRAIN, VAL], &[TRAIN, VAL]),
    };
    info.hash = hash::mix(info.hash, val_split as u64);
    let split = |parts| Split::of_source(source.clone(), numbered(parts));
    Dataset {
        info,
        train: split(train),
        val: split(val),
        test: split(&[TEST]),
    }
}
