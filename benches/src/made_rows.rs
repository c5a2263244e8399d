//! Rows that benchmarks draw themselves: color images and sentences.

use data::{Arrays, Dataset, InputArray, Rows, Split, Values};
use random::Random;
use std::sync::Arc;

/// Rows to learn from, and rows to validate with.
const TRAIN: usize = 10_240;
const VAL: usize = 2_048;

/// Pixels of an edge of an image, and classes.
const EDGE: usize = 16;
const CLASSES: u64 = 10;

/// Stripes in noise, ten directions to tell apart; phase, contrast and color are anybody's guess.
pub fn gratings() -> Dataset {
    let random = Random::new(1, "gratings");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..(TRAIN + VAL) as u64 {
        let draw = |k: u64| random.normal(row * 4096 + k);
        let class = random.bits(row * 4096 + 4000) % CLASSES;
        let angle = std::f32::consts::PI * class as f32 / CLASSES as f32;
        let (phase, contrast) = (10.0 * draw(4001), 0.4 + 0.4 * draw(4002).abs());
        for channel in 0..3 {
            let color = 0.5 * draw(4003 + channel as u64);
            for at in 0..EDGE * EDGE {
                let (y, x) = ((at / EDGE) as f32, (at % EDGE) as f32);
                let wave = (1.2 * (x * angle.cos() + y * angle.sin()) + phase).sin();
                let noise = 0.6 * draw((channel * EDGE * EDGE + at) as u64);
                values.push(color + contrast * wave + noise);
            }
        }
        labels.push(class as u32);
    }
    let width = 3 * EDGE * EDGE;
    let rows = Rows {
        values,
        labels,
        width,
    };
    let data = Dataset::of_rows("gratings", vec![3, EDGE, EDGE], rows);
    let (train, val) = (data.train.head(TRAIN), data.train.tail(TRAIN));
    Dataset { train, val, ..data }
}

/// Words of a sentence, words there are, and how many of these are marks.
const LENGTH: usize = 16;
const WORDS: u64 = 32;
const MARKS: u64 = 4;

/// Sentences of random words; the class is the mark that stands last.
pub fn sentences() -> Dataset {
    let random = Random::new(1, "sentences");
    let (mut words, mut labels) = (Vec::new(), Vec::new());
    for row in 0..(TRAIN + VAL) as u64 {
        let bits = |k: u64| random.bits(row * 64 + k);
        // Every other word may be a mark, and the first is one.
        let word = |at: u64| match bits(at) % 2 {
            0 => bits(at + 20) % MARKS,
            _ => MARKS + bits(at + 40) % (WORDS - MARKS),
        };
        let mut sentence: Vec<u64> = (0..LENGTH as u64).map(word).collect();
        sentence[0] = bits(63) % MARKS;
        let last = sentence.iter().rev().find(|word| **word < MARKS);
        labels.push(last.map_or(0, |mark| *mark as u32));
        words.extend(sentence.into_iter().map(|word| word as i64));
    }
    let rows = Rows {
        values: vec![0.0; labels.len()],
        labels: labels.clone(),
        width: 1,
    };
    let data = Dataset::of_rows("sentences", vec![LENGTH], rows);
    let arrays = Arc::new(Arrays {
        inputs: vec![InputArray {
            name: "tokens".to_owned(),
            shape: vec![LENGTH],
            values: Values::I64(words),
        }],
        labels,
    });
    let part = |range: std::ops::Range<usize>| {
        Split::of_arrays(Arc::clone(&arrays), range.map(|row| row as u32).collect())
    };
    Dataset {
        train: part(0..TRAIN),
        val: part(TRAIN..TRAIN + VAL),
        ..data
    }
}
