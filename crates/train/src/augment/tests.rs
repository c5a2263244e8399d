//! Laws of augmentation, against a plain one.

use super::*;
use data::{Arrays, InputArray, Rows, Values};
use std::collections::BTreeSet;
use std::sync::Arc;

const ROWS: u32 = 400;

/// Images whose pixels are all different, and not zero.
fn images(shape: [usize; 3]) -> Dataset {
    let width: usize = shape.iter().product();
    let rows = Rows {
        values: (1..=ROWS as usize * width).map(|k| k as f32).collect(),
        labels: (0..ROWS).map(|row| row % 3).collect(),
        width,
    };
    Dataset::of_rows("images", shape.to_vec(), rows)
}

/// The values that a network gets of these rows.
fn seen(data: &Dataset, (augment, seed): (Augment, u64), rows: &[u32], epoch: u64) -> Vec<f32> {
    let mut training = TrainingRows::new(data, augment, seed);
    match training.inputs(rows, epoch).as_slice() {
        [Input::F32(values)] => values.to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Pads an image with zeros, cuts a window of its size out at (`top`, `left`), and mirrors it.
fn plain(
    [channels, height, width]: [usize; 3],
    image: &[f32],
    crop: usize,
    (top, left, flip): (usize, usize, bool),
) -> Vec<f32> {
    let (tall, wide) = (height + 2 * crop, width + 2 * crop);
    let mut padded = vec![0.0; channels * tall * wide];
    for c in 0..channels {
        for y in 0..height {
            for x in 0..width {
                padded[(c * tall + y + crop) * wide + x + crop] =
                    image[(c * height + y) * width + x];
            }
        }
    }
    let mut window = Vec::new();
    for c in 0..channels {
        for y in 0..height {
            for x in 0..width {
                let x = if flip { width - 1 - x } else { x };
                window.push(padded[(c * tall + y + top) * wide + x + left]);
            }
        }
    }
    window
}

fn cases() -> impl Iterator<Item = ([usize; 3], Augment)> {
    let shapes = [[1, 5, 7], [3, 6, 4], [2, 1, 9]];
    let pairs = shapes.into_iter().flat_map(|shape| {
        let kinds = [(0, true), (1, false), (2, true), (3, true)];
        kinds.map(|(crop, flip)| (shape, Augment { crop, flip }))
    });
    pairs.filter(|(shape, augment)| augment.crop < shape[1])
}

/// Each image is the plain change of its own row, by numbers of the seed, the epoch and the row.
#[test]
fn images_are_padded_cut_and_mirrored() {
    for (shape, augment) in cases() {
        let data = images(shape);
        let rows: Vec<u32> = (0..ROWS).rev().collect();
        for (seed, epoch) in [(0, 0), (0, 3), (7, 3)] {
            let changed = seen(&data, (augment, seed), &rows, epoch);
            let width: usize = shape.iter().product();
            for (&row, changed) in rows.iter().zip(changed.chunks(width)) {
                let stream = Random::new(seed, "augment").at(epoch).at(u64::from(row));
                let mut draws = Draws::new(stream);
                let [top, left] = [0; 2].map(|_: i32| draws.below(2 * augment.crop + 1));
                let flip = augment.flip && draws.below(2) == 1;
                let image = &data.train.rows()[row as usize * width..][..width];
                let expected = plain(shape, image, augment.crop, (top, left, flip));
                assert_eq!(changed, expected, "{augment} of row {row} in {epoch}");
            }
        }
    }
}

/// All places of the window occur, with and without a mirror, about as often as each other.
#[test]
fn every_change_occurs() {
    for (shape, augment) in cases() {
        let data = images(shape);
        let width: usize = shape.iter().product();
        let places = 2 * augment.crop + 1;
        let flips: &[bool] = if augment.flip {
            &[false, true]
        } else {
            &[false]
        };
        let mut found = BTreeSet::new();
        let mut n_flipped = 0;
        for epoch in 0..3 {
            let rows: Vec<u32> = (0..ROWS).collect();
            let changed = seen(&data, (augment, 1), &rows, epoch);
            for (row, changed) in changed.chunks(width).enumerate() {
                let image = &data.train.rows()[row * width..][..width];
                let tops = (0..places).flat_map(|top| (0..places).map(move |left| (top, left)));
                let mut all =
                    tops.flat_map(|(top, left)| flips.iter().map(move |&f| (top, left, f)));
                let change =
                    all.find(|&change| plain(shape, image, augment.crop, change) == changed);
                let change = change.unwrap_or_else(|| panic!("row {row} is something else"));
                n_flipped += u32::from(change.2);
                found.insert(change);
            }
        }
        assert_eq!(
            found.len(),
            places * places * flips.len(),
            "{augment} of {shape:?}"
        );
        let share = f64::from(n_flipped) / f64::from(3 * ROWS);
        let expected = if augment.flip { 0.5 } else { 0.0 };
        assert!((share - expected).abs() < 0.05, "{share} are mirrored");
    }
}

#[test]
fn a_row_changes_alike_in_every_batch() {
    let data = images([3, 6, 4]);
    let augment = "crop(2)+flip".parse().unwrap();
    let rows: Vec<u32> = (0..40).map(|k| k * 7 % ROWS).collect();
    let whole = seen(&data, (augment, 5), &rows, 2);
    for size in [1, 3, 16, 39] {
        let parts = rows
            .chunks(size)
            .flat_map(|rows| seen(&data, (augment, 5), rows, 2));
        assert_eq!(parts.collect::<Vec<f32>>(), whole, "batches of {size}");
    }
    // A training reuses its memory.
    let mut training = TrainingRows::new(&data, augment, 5);
    for (rows, epoch) in [
        (&rows[..], 2),
        (&rows[5..], 7),
        (&rows[..3], 2),
        (&rows[..], 9),
    ] {
        let inputs = training.inputs(rows, epoch);
        let [Input::F32(values)] = inputs[..] else {
            panic!("{inputs:?}");
        };
        assert_eq!(*values, seen(&data, (augment, 5), rows, epoch), "{epoch}");
    }
}

#[test]
fn without_augmentation_rows_are_not_copied() {
    let data = images([1, 5, 7]);
    let mut training = TrainingRows::new(&data, Augment::NONE, 0);
    let inputs = training.inputs(&[3, 1], 0);
    assert!(matches!(inputs[..], [Input::Gather { .. }]), "{inputs:?}");
}

#[test]
fn texts_are_read_and_written() {
    for (text, crop, flip, written) in [
        ("none", 0, false, "none"),
        ("flip", 0, true, "flip"),
        ("crop(3)", 3, false, "crop(3)"),
        ("crop( 12 ) + flip", 12, true, "crop(12)+flip"),
        ("flip+crop(1)", 1, true, "crop(1)+flip"),
        ("crop-flip", 4, true, "crop(4)+flip"),
    ] {
        let augment: Augment = text.parse().unwrap();
        assert_eq!(augment, Augment { crop, flip }, "{text}");
        assert_eq!(augment.to_string(), written);
        assert_eq!(written.parse(), Ok(augment));
    }
    for (text, problem) in [
        (
            "",
            "'' is not none, crop-flip, or crop(N) and flip joined by +",
        ),
        (
            "crop",
            "'crop' is not none, crop-flip, or crop(N) and flip joined by +",
        ),
        (
            "crop(-1)",
            "'crop(-1)' is not none, crop-flip, or crop(N) and flip joined by +",
        ),
        (
            "flip+none",
            "'none' is not none, crop-flip, or crop(N) and flip joined by +",
        ),
        ("crop(0)", "crop(0) moves nothing; crop by 1 pixel or more"),
        (
            "flip+flip",
            "'flip+flip' has flip after another one; give each once",
        ),
        (
            "crop(1)+crop(2)",
            "'crop(1)+crop(2)' has crop(2) after another one; give each once",
        ),
    ] {
        assert_eq!(text.parse::<Augment>(), Err(problem.to_owned()));
    }
}

/// An array of one value for every element of rows of this shape.
fn array(shape: &[usize], is_float: bool) -> InputArray {
    let n = ROWS as usize * shape.iter().product::<usize>();
    InputArray {
        name: "x".to_owned(),
        shape: shape.to_vec(),
        values: if is_float {
            Values::F32(vec![1.0; n])
        } else {
            Values::I64(vec![1; n])
        },
    }
}

fn of_arrays(inputs: Vec<InputArray>) -> Dataset {
    let mut data = images([1, 5, 7]);
    data.info.sample_shape.clone_from(&inputs[0].shape);
    let labels = data.train.labels().to_vec();
    let arrays = Arc::new(Arrays { inputs, labels });
    data.train = Split::of_arrays(arrays, (0..ROWS).collect());
    data
}

#[test]
fn rows_that_are_no_images_are_refused() {
    let table = |shape: &[usize]| {
        let mut data = images([1, 5, 7]);
        data.info.sample_shape = shape.to_vec();
        data
    };
    let [image, flat] = [&[1, 5, 7][..], &[35]];
    for (data, augment, rows) in [
        (table(image), "crop(4)", None),
        (table(flat), "none", None),
        (of_arrays(vec![array(image, true)]), "flip", None),
        (table(flat), "flip", Some("an array of shape [35]")),
        (table(&[5, 7]), "crop(1)", Some("an array of shape [5, 7]")),
        (
            of_arrays(vec![array(image, false)]),
            "flip",
            Some("an array of integers"),
        ),
        (
            of_arrays(vec![array(image, true), array(flat, true)]),
            "flip",
            Some("2 arrays"),
        ),
    ] {
        let problem = augment.parse::<Augment>().unwrap().check(&data);
        let problem = problem.map_err(|error| error.to_string());
        let sentence = rows.map(|rows| {
            format!("augment {augment} needs images, channels by height by width, but a row of images is {rows}; leave it out")
        });
        assert_eq!(problem, sentence.map_or(Ok(()), Err));
    }
    let far = "crop(5)+flip"
        .parse::<Augment>()
        .unwrap()
        .check(&table(image));
    assert_eq!(
        far.map_err(|error| error.to_string()),
        Err("augment crop(5)+flip can move the images of images, 5 by 7 pixels, out of sight; crop by at most 4".to_owned())
    );
}
