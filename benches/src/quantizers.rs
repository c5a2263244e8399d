//! Rounding ten million floats to each format, against a plain copy and against PyTorch's expression of the same.

use crate::clock::{Spent, time};
use crate::peer::Peer;
use crate::table::{micros, print, times};
use anyhow::Result;
use format::Format;
use random::Random;

const ELEMENTS: usize = 10_000_000;
/// The last axis of the array: blocks lie along it.
const WIDTH: usize = 1000;
const TURNS: usize = 7;

/// A format, and the name of PyTorch's expression of it where the peer has one.
const FORMATS: [(&str, Option<&str>); 13] = [
    ("integer(8, 4)", Some("integer")),
    ("integer(16, 8)", None),
    ("minifloat_ieee(8, 4)", Some("minifloat_ieee")),
    ("minifloat_denorm(8, 4)", None),
    ("log(8)", None),
    ("block_fp(8, 8, block_size = [1, 16])", Some("block_fp")),
    ("block_fp(8, 8, block_size = [16])", None),
    ("block_minifloat(8, 4, 8, block_size = [1, 16])", None),
    ("block_log(8, 8, block_size = [1, 16])", None),
    ("mxint(8)", Some("mxint")),
    ("mxfp(4, 3)", None),
    ("ternary", None),
    ("scale_integer(8)", None),
];

/// Prints the table.
pub fn run() -> Result<()> {
    let mut peer = Peer::start(1)?;
    let random = Random::new(1, "quantizers");
    let x: Vec<f32> = (0..ELEMENTS).map(|k| random.normal(k as u64)).collect();
    let mut y = vec![0.0; ELEMENTS];
    let mut rows = Vec::new();
    for (spec, torch_name) in FORMATS {
        let format = Format::parse(spec)?;
        let (mut own, mut copy, mut torch) = (Spent::FOREVER, Spent::FOREVER, Spent::FOREVER);
        for _ in 0..TURNS {
            own = own.best(time(|| {
                kernels::quantize::quantize(&format, &x, &[ELEMENTS / WIDTH, WIDTH], &mut y);
            }));
            copy = copy.best(time(|| y.copy_from_slice(&x)));
            if let Some(name) = torch_name {
                torch = torch.best(peer.ask(&format!("quantize {name} {ELEMENTS} 1"))?);
            }
        }
        let compared = torch_name.is_some();
        rows.push(vec![
            spec.to_owned(),
            micros(own.cpu),
            micros(copy.cpu),
            times(own.cpu / copy.cpu),
            if compared {
                micros(torch.cpu)
            } else {
                "–".to_owned()
            },
            if compared {
                times(torch.cpu / own.cpu)
            } else {
                "–".to_owned()
            },
        ]);
    }
    println!(
        "quantizers, 1 thread, {ELEMENTS} floats as [{}, {WIDTH}]: microseconds of CPU, best of {TURNS} turns",
        ELEMENTS / WIDTH
    );
    print(
        &["format", "ours", "copy", "of a copy", "PyTorch", "ratio"],
        &rows,
    );
    Ok(())
}
