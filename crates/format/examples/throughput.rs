//! How fast each format rounds ten million floats on one thread, beside a plain copy.
//!
//! `cargo run --release -p format --example throughput`; with `RUSTFLAGS=-Ctarget-cpu=native` for the widest loops.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::Instant;

use format::{Format, FormatError, StoredArray};

const ROWS: usize = 10_000;
const COLUMNS: usize = 1_000;
const REPEATS: usize = 7;

const SPECS: [&str; 32] = [
    "integer(8, 4)",
    "integer(8, 4, rounding = floor)",
    "integer(32, 16)",
    "integer(8, stored, axis = 0)",
    "integer(8, stored, axis = 1)",
    "affine(8, 0.0625)",
    "affine(8, stored, axis = 0)",
    "affine(8, stored, axis = 1)",
    "scale_integer(8)",
    "scale_integer(8, granularity = row)",
    "binary(bipolar = true)",
    "binary(bipolar = false)",
    "ternary(scaling_factor = true)",
    "log(8)",
    "log(10)",
    "minifloat_ieee(8, 4)",
    "minifloat_ieee(16, 8)",
    "minifloat_denorm(8, 4)",
    "block_fp(8, 8)",
    "block_fp(8, 8, block_size = 4)",
    "block_fp(8, 8, block_size = [16])",
    "block_fp(8, 8, block_size = [4])",
    "block_fp(8, 8, block_size = [16, 16])",
    "block_minifloat(8, 4, 8)",
    "block_minifloat(8, 4, 8, [16])",
    "block_log(8, 8)",
    "block_log(8, 8, [16])",
    "mxint(8)",
    "mxint(8, [32])",
    "mxfp(4, 3)",
    "mxfp(4, 3, [32])",
    "mxfp(2, 1)",
];

/// The format of a spec; stored fields get values that differ from place to place.
fn format_of(spec: &str, shape: &[usize]) -> Result<Format, FormatError> {
    let mut format = Format::parse(spec)?;
    let names: Vec<_> = format
        .stored_fields()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    for name in names {
        let shape = format.stored_shape(shape).unwrap_or_default();
        let bits = |place: usize| (place % 3 + 3) as f32;
        let value = |place| match name {
            "frac_width" => bits(place),
            _ => 0.4f32.powf(bits(place)),
        };
        let values = (0..shape.iter().product()).map(value).collect();
        let stored = format.with_stored(name, StoredArray { shape, values });
        format = stored.unwrap_or_else(|problem| panic!("{spec}: {problem}"));
    }
    Ok(format)
}

/// The seconds of one run.
fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

fn main() -> Result<(), FormatError> {
    // A spread of signs and magnitudes without a random number generator.
    let value = |index: usize| (index as f32 * 0.618).sin() * (index % 97) as f32 * 0.1;
    let x: Vec<f32> = (0..ROWS * COLUMNS).map(value).collect();
    let (mut y, mut grad) = (vec![0.0; x.len()], vec![1.0; x.len()]);
    let shape = [ROWS, COLUMNS];
    let gigabytes = (2 * size_of_val(x.as_slice())) as f64 * 1e-9;
    println!(
        "{:48} {:>6} {:>6} {:>9}",
        "format", "GB/s", "/copy", "grad/copy"
    );
    for spec in SPECS {
        let format = format_of(spec, &shape)?;
        // Interleaved, least of a few: what else the machine does then troubles all three alike.
        let mut least = [f64::INFINITY; 3];
        for _ in 0..REPEATS {
            let times = [
                seconds(|| std::hint::black_box(&mut y).copy_from_slice(&x)),
                seconds(|| format.quantize(&x, &shape, std::hint::black_box(&mut y))),
                seconds(|| format.straight_through(&x, &shape, &mut grad)),
            ];
            least = std::array::from_fn(|side| least[side].min(times[side]));
        }
        let [copy, round, mask] = least;
        let (rate, ratio) = (gigabytes / round, round / copy);
        println!("{spec:48} {rate:6.2} {ratio:6.2} {:9.2}", mask / copy);
    }
    Ok(())
}
