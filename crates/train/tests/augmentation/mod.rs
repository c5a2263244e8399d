//! Runs whose images are augmented: the same on any number of threads and after a stop, and judged by rows as they are.

use crate::{Folder, config, dataset, network, train_rows};
use data::Dataset;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use train::{Augment, Ending, Event, FitConfig, evaluate, fit};

const AUGMENT: Augment = Augment {
    crop: 1,
    flip: true,
};

/// The rows of the other tests as images of 2 × 3 pixels.
fn images() -> Dataset {
    let mut data = dataset(310);
    data.info.sample_shape = vec![1, 2, 3];
    data
}

fn augmented(folder: &Path) -> FitConfig {
    FitConfig {
        augment: AUGMENT,
        ..config(folder)
    }
}

fn train(config: &FitConfig, threads: usize, stop_after: Option<usize>) -> (Ending, Vec<u32>) {
    let (outcome, bits) = train_rows(&mut network(threads), &images(), config, stop_after);
    (outcome.ending, bits)
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new("augment-threads");
    let (_, one) = train(&augmented(&folder.0), 1, None);
    assert_eq!(train(&augmented(&folder.0), 3, None).1, one);
    let plain = train(&config(&folder.0), 1, None).1;
    assert_ne!(plain, one, "augmentation changes what is learned");
}

#[test]
fn a_run_stopped_anywhere_and_resumed_ends_with_the_same_bits() {
    let whole = Folder::new("augment-whole");
    let (_, expected) = train(&augmented(&whole.0), 1, None);
    for stop_after in [1, 5, 8, 9, 13, 20] {
        let folder = Folder::new("augment-stop");
        let (ending, _) = train(&augmented(&folder.0), 1, Some(stop_after));
        let resumed = FitConfig {
            resume: ending == Ending::Stopped,
            ..augmented(&folder.0)
        };
        assert_eq!(train(&resumed, 1, None).1, expected, "{stop_after}");
    }
}

#[test]
fn another_augmentation_is_refused_with_both_values() {
    let changes = [
        (AUGMENT, Augment::NONE, "crop(1)+flip", "not given"),
        (Augment::NONE, AUGMENT, "not given", "crop(1)+flip"),
        (
            AUGMENT,
            Augment { crop: 0, ..AUGMENT },
            "crop(1)+flip",
            "flip",
        ),
    ];
    for (before, now, before_word, now_word) in changes {
        let folder = Folder::new("augment-other");
        let of = |augment, resume| FitConfig {
            augment,
            resume,
            ..config(&folder.0)
        };
        train(&of(before, false), 1, Some(3));
        let (stop, config) = (AtomicBool::new(false), of(now, true));
        let error = fit(&mut network(1), &images(), &config, &stop, &mut |_| {});
        let error = error.unwrap_err().to_string();
        let path = folder.0.join("training_ckpts/last.ckpt");
        let expected = format!(
            "augment is {before_word} in {} and {now_word} now; ",
            path.display()
        );
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn rows_that_are_no_images_are_refused_before_anything_is_written() {
    let folder = Folder::new("augment-table");
    let error = crate::failure(&augmented(&folder.0)).to_string();
    assert!(
        error.contains("a row of largest is an array of shape [6]"),
        "{error}"
    );
    assert!(folder.0.read_dir().unwrap().next().is_none());
}

#[test]
fn validation_sees_the_rows_as_they_are() {
    let folder = Folder::new("augment-val");
    let (mut network, stop) = (network(1), AtomicBool::new(false));
    let mut scores = Vec::new();
    fit(
        &mut network,
        &images(),
        &augmented(&folder.0),
        &stop,
        &mut |event| {
            if let Event::Epoch { val, .. } = event {
                scores.push(*val);
            }
        },
    )
    .unwrap();
    let plain = evaluate(&mut network, &dataset(310).val).unwrap();
    assert_eq!(scores.last(), Some(&plain));
}
