//! Sets that need no file of the user's: `jsc-sim` against its facts, and `mnist` where the digits are at hand.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{Dataset, OpenOptions, ValSplit, open};
use std::collections::BTreeSet;
use std::path::Path;

fn sim(seed: u64) -> Dataset {
    let options = OpenOptions {
        seed,
        ..OpenOptions::default()
    };
    open("jsc-sim", &options).unwrap()
}

#[test]
fn jsc_sim_has_the_promised_shape() {
    let set = sim(0);
    assert_eq!(set.info.sample_shape, [16]);
    assert_eq!(set.info.classes, ["g", "q", "t", "w", "z"]);
    assert_eq!(set.info.features.len(), 16);
    let sizes = [set.train.len(), set.val.len(), set.test.len()];
    assert_eq!(sizes, [90_000, 10_000, 20_000]);
    assert_eq!(set.train.width(), 16);
    assert_eq!(set.train.rows().len(), 120_000 * 16);
    assert_eq!(set.train.labels().len(), 120_000);
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let (a, b, c) = (sim(7), sim(7), sim(8));
    assert_eq!(a.train.rows(), b.train.rows());
    assert_eq!(a.train.labels(), b.train.labels());
    assert_eq!(a.info.hash, b.info.hash);
    assert_ne!(a.train.rows(), c.train.rows());
    assert_ne!(a.info.hash, c.info.hash);
    // The splits do not depend on the seed.
    assert_eq!(a.val.indices(), c.val.indices());
}

/// Rows and pixels that Python computed from the definitions.
#[test]
fn drawn_rows_are_those_of_the_definition() {
    let close =
        |got: f32, expected: f32| assert!((got - expected).abs() < 2e-5, "{got}, not {expected}");
    let set = sim(3);
    #[rustfmt::skip]
    let cases = [
        (0, 1, [0.88051, 0.08996, -1.09065, -0.82635, -1.06952, -0.62148, -0.27126, -0.6675, -0.27141, -0.40419, -0.42833,
                -0.88987, -0.363, -0.77106, -1.11235, -1.37341]),
        (119_999, 4, [-0.04608, 0.43149, -0.1399, -0.03162, 0.91532, 0.58937, 2.60846, 1.72755, 2.60833, 1.00487, 0.16706,
                      -0.24413, 1.24198, 1.15392, 0.20693, -0.12147]),
    ];
    for (row, label, expected) in cases {
        assert_eq!(set.train.labels()[row], label);
        let got = &set.train.rows()[16 * row..][..16];
        for (&got, expected) in got.iter().zip(expected) {
            close(got, expected);
        }
    }
    let options = OpenOptions {
        seed: 3,
        ..OpenOptions::default()
    };
    let images = open("toy_tiny", &options).unwrap();
    #[rustfmt::skip]
    let cases = [
        (0, [(0, 0.11132), (27, 0.08711), (28, 0.07123), (29, 0.00129), (783, 0.24862), (292, 0.94214)]),
        (1, [(0, 0.15311), (27, 0.16411), (28, 0.22903), (29, 0.0727), (783, 0.1985), (612, 0.99154)]),
    ];
    for (row, pixels) in cases {
        let image = &images.train.rows()[784 * row..][..784];
        for (pixel, expected) in pixels {
            close(image[pixel], expected);
        }
    }
}

/// The share of rows below each published quantile is its probability: five standard errors, 17 points, 80 curves.
#[test]
fn jsc_sim_follows_its_quantiles() {
    let facts: serde_json::Value =
        serde_json::from_str(include_str!("../src/sets/jsc_sim_facts.json")).unwrap();
    let set = sim(1);
    let probabilities = facts["probabilities"].as_array().unwrap();
    for (class, facts) in facts["class"].as_array().unwrap().iter().enumerate() {
        let rows: Vec<&[f32]> = rows_of(&set, class as u32);
        let n = rows.len() as f64;
        assert!((n / 120_000.0 - 0.2).abs() < 0.006, "class {class}: {n}");
        for (feature, quantiles) in facts["quantiles"].as_array().unwrap().iter().enumerate() {
            for (quantile, p) in quantiles.as_array().unwrap().iter().zip(probabilities) {
                let (quantile, p) = (quantile.as_f64().unwrap() as f32, p.as_f64().unwrap());
                let below = rows.iter().filter(|row| row[feature] < quantile).count() as f64 / n;
                let up_to = rows.iter().filter(|row| row[feature] <= quantile).count() as f64 / n;
                let slack = 5.0 * (p * (1.0 - p) / n).sqrt() + 1e-4;
                assert!(
                    below - slack <= p && p <= up_to + slack,
                    "class {class}, feature {feature}: {below}..{up_to} below {quantile}, not {p}"
                );
            }
        }
    }
}

/// The features' correlation after making each Gaussian by its rank is the one that the Cholesky factor stands for.
#[test]
fn jsc_sim_is_correlated_as_its_facts_say() {
    let facts: serde_json::Value =
        serde_json::from_str(include_str!("../src/sets/jsc_sim_facts.json")).unwrap();
    let set = sim(2);
    for (class, facts) in facts["class"].as_array().unwrap().iter().enumerate() {
        let factor: Vec<Vec<f64>> = serde_json::from_value(facts["cholesky"].clone()).unwrap();
        let rows = rows_of(&set, class as u32);
        for (a, b) in [(0, 15), (2, 3), (10, 14), (6, 7)] {
            let expected: f64 = factor[a].iter().zip(&factor[b]).map(|(x, y)| x * y).sum();
            let got = rank_correlation(&rows, a, b);
            // Spearman's ρ of a Gaussian pair is 6/π·asin(r/2).
            let expected = 6.0 / std::f64::consts::PI * (expected / 2.0).asin();
            assert!(
                (got - expected).abs() < 0.03,
                "class {class}, {a} and {b}: {got}, not {expected}"
            );
        }
    }
}

fn rows_of(set: &Dataset, class: u32) -> Vec<&[f32]> {
    let rows = set.train.rows().chunks_exact(16).zip(set.train.labels());
    rows.filter(|(_, label)| **label == class)
        .map(|(row, _)| row)
        .collect()
}

fn rank_correlation(rows: &[&[f32]], a: usize, b: usize) -> f64 {
    let n = rows.len() as f64;
    let (a, b) = (ranks(rows, a), ranks(rows, b));
    let product: f64 = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - n / 2.0) * (b - n / 2.0))
        .sum();
    product * 12.0 / n.powi(3)
}

fn ranks(rows: &[&[f32]], feature: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[a][feature].total_cmp(&rows[b][feature]));
    let mut ranks = vec![0.0; rows.len()];
    for (rank, &row) in order.iter().enumerate() {
        ranks[row] = rank as f64;
    }
    ranks
}

#[test]
fn splits_are_disjoint_and_complete() {
    let set = sim(0);
    let parts = [&set.train, &set.val, &set.test].map(|split| split.indices().iter().copied());
    let all: Vec<u32> = parts.into_iter().flatten().collect();
    let different: BTreeSet<u32> = all.iter().copied().collect();
    assert_eq!(all.len(), 120_000);
    assert_eq!(different, (0..120_000).collect());
}

#[test]
fn validation_on_training_rows_is_there_for_old_numbers() {
    let options = OpenOptions {
        val_split: ValSplit::Train,
        ..OpenOptions::default()
    };
    let set = open("jsc-sim", &options).unwrap();
    assert_eq!(set.train.len(), 100_000);
    assert_eq!(set.train.indices(), set.val.indices());
    assert_ne!(set.info.hash, sim(0).info.hash);
}

#[test]
fn gather_takes_positions_of_the_split() {
    let set = sim(0);
    let (mut x, mut y) = (vec![1.0], vec![1]);
    set.val.gather(&[3, 0], &mut x, &mut y);
    let rows = [3, 0].map(|position| set.val.indices()[position] as usize);
    assert_eq!(y, rows.map(|row| set.val.labels()[row]));
    let expected: Vec<f32> = rows
        .iter()
        .flat_map(|row| set.val.rows()[row * 16..][..16].to_vec())
        .collect();
    assert_eq!(x, expected);
}

#[test]
fn mnist_is_read_from_its_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.join("mnist").exists() {
        println!("no digits at hand: not compared");
        return;
    }
    let options = OpenOptions {
        data_dir: Some(folder),
        offline: true,
        ..OpenOptions::default()
    };
    let set = open("mnist", &options).unwrap();
    let sizes = [set.train.len(), set.val.len(), set.test.len()];
    assert_eq!(sizes, [54_000, 6_000, 10_000]);
    assert_eq!(set.info.sample_shape, [1, 28, 28]);
    // Published facts: the first digits are 5 0 4 1, the first test digits 7 2 1 0, the mean pixel 0.1307.
    assert_eq!(set.train.labels()[..4], [5, 0, 4, 1]);
    assert_eq!(set.train.labels()[60_000..60_004], [7, 2, 1, 0]);
    let train = &set.train.rows()[..60_000 * 784];
    let mean = train.iter().map(|&x| f64::from(x)).sum::<f64>() / train.len() as f64;
    assert!((mean - 0.1307).abs() < 1e-4, "{mean}");
    assert!(train.iter().all(|x| (0.0..=1.0).contains(x)));
}

#[test]
fn toy_images_have_28_by_28_pixels_and_two_classes_in_turn() {
    let set = open("toy_tiny", &OpenOptions::default()).unwrap();
    let whole = set.whole();
    assert_eq!((whole.len(), whole.width()), (1200, 784));
    assert_eq!(whole.rows().len(), 1200 * 784);
    assert!(whole.rows().iter().all(|pixel| (0.0..=1.0).contains(pixel)));
    let labels = whole.labels().iter().enumerate();
    assert!(labels.clone().all(|(row, &label)| label == row as u32 % 2));
    let recorded = data::Preparation::of(&set.info);
    assert_eq!(recorded.dataset, Some(set.info.name.clone()));
    assert_eq!(recorded.classes, Some(set.info.classes.clone()));
    assert_eq!(
        recorded.standardizer,
        set.info.scaling.standardizer().cloned()
    );
}
