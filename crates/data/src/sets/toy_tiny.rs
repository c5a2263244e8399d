//! `toy_tiny`: small images with a bright spot, above the middle or below it. One linear layer separates them.

use crate::dataset::{Dataset, Rows};
use crate::open::Request;
use crate::prepare;
use random::Random;

const SIDE: usize = 28;
const N_TRAIN: usize = 1000;
const N_TEST: usize = 200;
/// The largest distance of a spot from its edge of the image.
const REACH: f32 = 11.0;

/// Draws the images.
pub(crate) fn load(request: &Request) -> Dataset {
    let random = Random::new(request.options.seed, "toy_tiny");
    let mut rows = Rows {
        values: Vec::new(),
        labels: Vec::new(),
        width: SIDE * SIDE,
    };
    for row in 0..N_TRAIN + N_TEST {
        let label = row as u32 % 2;
        draw(random.at(row as u64), label, &mut rows.values);
        rows.labels.push(label);
    }
    let info = request.generated_info();
    let parts = prepare::split_given(N_TRAIN, N_TEST);
    prepare::assemble(info, rows, &parts, request.options.val_split)
}

/// A quarter noise, three quarters spot.
fn draw(random: Random, label: u32, values: &mut Vec<f32>) {
    let n_pixels = (SIDE * SIDE) as u64;
    let from_edge = random.uniform(n_pixels) * REACH;
    let last = (SIDE - 1) as f32;
    let center_y = if label == 0 {
        from_edge
    } else {
        last - from_edge
    };
    let center_x = random.uniform(n_pixels + 1) * last;
    for pixel in 0..n_pixels {
        let y = (pixel as usize / SIDE) as f32 - center_y;
        let x = (pixel as usize % SIDE) as f32 - center_x;
        let spot = (-(x * x + y * y) / 8.0).exp();
        values.push(0.25 * random.uniform(pixel) + 0.75 * spot);
    }
}
