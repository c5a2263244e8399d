//! Outputs as products of windows and packed weights, block of pixels by block of pixels.

use super::pack::{Block, Packing, WIDE};
use super::taps::{MAX_PIXELS, Pointers, TALLEST as MAX_ROWS, Taps};
use super::tile::{Start, Tile, run};
use crate::isa::vector_versions;
use crate::simd::Vector;
use std::ops::Range;

/// Products in one chain of an accumulator, about: the weights of a group stay in the first-level cache.
const DEPTH: usize = 288;

/// Operands of a product: `y[target pixel] = clamp(bias + Σ x[source pixel of the tap] · w[tap])`.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub(super) taps: &'a Taps,
    pub(super) packing: &'a Packing,
    /// Windows are spelled out first: where a source pixel has too few channels to make a loop.
    pub(super) spells_out: bool,
    pub(super) x: &'a [f32],
    pub(super) packed: &'a [f32],
    pub(super) bias: Option<&'a [f32]>,
    pub(super) clamp: Option<(f32, f32)>,
}

/// Taps and channels that one tile sums up before it meets the output.
#[derive(Clone, Copy)]
struct Group {
    tap: usize,
    taps: usize,
    channel: usize,
    channels: usize,
    is_first: bool,
    is_last: bool,
}

/// Runs a product. Scratch holds a row of zeros, or a block's windows.
pub(super) fn product(o: &Operands, y: &mut [f32], scratch: &mut [f32]) {
    assert!(
        o.packed.len() >= o.packing.len()
            && o.bias.is_none_or(|bias| bias.len() >= o.packing.outputs)
            && y.len() >= o.taps.pixels() * o.packing.outputs,
        "conv: operands too short"
    );
    if !o.spells_out {
        scratch[..o.packing.inputs].fill(0.0);
    }
    let mut pointers = Pointers::new();
    let step = o.taps.block();
    for from in (0..o.taps.pixels()).step_by(step) {
        let pixels = from..o.taps.pixels().min(from + step);
        // SAFETY: the lengths of weights, biases and outputs were checked; sources are checked where their pointers are
        // made, and padding points at a row of zeros in the scratch.
        unsafe { run_block(o, pixels, &mut pointers, scratch, y.as_mut_ptr()) };
    }
}

/// The groups of a product; they follow from its sizes alone, and with them the order of every sum.
fn groups(taps: usize, channels: usize) -> impl Iterator<Item = Group> {
    let together = (DEPTH / channels.max(1)).clamp(1, taps);
    // Groups of about the same size.
    let together = taps.div_ceil(taps.div_ceil(together));
    let parts = channels.div_ceil(DEPTH);
    let part = channels.div_ceil(parts.max(1)).max(1);
    (0..taps).step_by(together).flat_map(move |tap| {
        (0..channels).step_by(part).map(move |channel| Group {
            tap,
            taps: together.min(taps - tap),
            channel,
            channels: part.min(channels - channel),
            is_first: tap == 0 && channel == 0,
            is_last: tap + together >= taps && channel + part >= channels,
        })
    })
}

vector_versions! {
    unsafe fn run_block<V>(o: &Operands, pixels: Range<usize>, pointers: &mut Pointers, scratch: &mut [f32], y: *mut f32) {
        // Lower tiles where those lie at one position each, and lose more taps to the padding.
        match V::LANES {
            16 if !o.taps.skips_with(12) && o.taps.skips_with(8) => block::<V, 8, 8, 4, 1>(o, pixels, pointers, scratch, y),
            16 => block::<V, 12, 8, 4, 1>(o, pixels, pointers, scratch, y),
            8 if !o.taps.skips_with(6) && o.taps.skips_with(4) => block::<V, 4, 4, 2, 2>(o, pixels, pointers, scratch, y),
            8 => block::<V, 6, 4, 2, 2>(o, pixels, pointers, scratch, y),
            _ => block::<V, 2, 2, 1, 4>(o, pixels, pointers, scratch, y),
        }
    }
}

/// A block of pixels: tiles of MR, and one of SOME or FEW for the last.
#[inline(always)]
unsafe fn block<
    V: Vector,
    const MR: usize,
    const SOME: usize,
    const FEW: usize,
    const NV: usize,
>(
    o: &Operands,
    pixels: Range<usize>,
    pointers: &mut Pointers,
    scratch: &mut [f32],
    y: *mut f32,
) {
    let (taps, inputs, zeros) = if o.spells_out {
        let depth = o.packing.depth();
        o.taps
            .spell_out(pixels.clone(), o.x, o.packing.inputs, scratch);
        pointers.fill_rows(pixels.len().next_multiple_of(MR), depth, scratch);
        (1, depth, std::ptr::null())
    } else {
        let (inputs, zeros) = (o.packing.inputs, scratch.as_ptr());
        pointers.fill(o.taps, pixels.clone(), MR, o.x, inputs, zeros);
        (o.packing.live.len(), inputs, zeros)
    };
    let mut rows = [std::ptr::null_mut(); MAX_PIXELS + MAX_ROWS];
    for (row, at) in rows.iter_mut().zip(pixels.clone()) {
        // SAFETY: the output has this pixel.
        *row = unsafe { y.add(o.taps.target(at) * o.packing.outputs) };
    }
    let mut blocks = o.packing.blocks().peekable();
    while let Some(block) = blocks.next() {
        // Two blocks side by side where a vector is a block: a pixel that is read is multiplied twice.
        let second = blocks.next_if(|second| V::LANES == WIDE && second.width == WIDE);
        for group in groups(taps, inputs) {
            let start = match (group.is_first, o.bias) {
                (true, Some(bias)) => Start::Bias(bias[block.first..].as_ptr()),
                (true, None) => Start::Zero,
                _ => Start::Add,
            };
            let at = block.start + (group.tap * inputs + group.channel) * block.width;
            let mut tile = Tile {
                sources: std::ptr::null(),
                zeros,
                taps: group.taps,
                first: group.channel,
                channels: group.channels,
                weights: o.packed[at..].as_ptr(),
                channel_stride: block.width,
                tap_stride: inputs * block.width,
                vector_stride: second.map_or(V::LANES, |second| second.start - block.start),
                out: rows.as_ptr(),
                first_output: block.first,
                outputs: block.len + second.map_or(0, |second| second.len),
                start,
                clamp: o.clamp.filter(|_| group.is_last),
            };
            for index in 0..pixels.len().div_ceil(MR) {
                tile.sources = pointers.tile(index, MR, taps, group.tap);
                tile.out = rows[index * MR..].as_ptr();
                let rest = pixels.len() - index * MR;
                let is_pair = second.is_some();
                // SAFETY: the caller's operands; the weights of the blocks are as wide as the tile.
                unsafe {
                    if rest <= FEW {
                        run_width::<V, MR, FEW, NV>(&tile, block, is_pair);
                    } else if rest <= SOME {
                        run_width::<V, MR, SOME, NV>(&tile, block, is_pair);
                    } else {
                        run_width::<V, MR, MR, NV>(&tile, block, is_pair);
                    }
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn run_width<V: Vector, const TALLEST: usize, const MR: usize, const NV: usize>(
    tile: &Tile,
    block: Block,
    is_pair: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match (block.width, V::LANES) {
            _ if is_pair => run::<V, TALLEST, MR, 2, false>(tile),
            (WIDE, _) => run::<V, TALLEST, MR, NV, false>(tile),
            (_, 16) => run::<V, TALLEST, MR, 1, true>(tile),
            (_, 8) => run::<V, TALLEST, MR, 1, false>(tile),
            _ => run::<V, TALLEST, MR, 2, false>(tile),
        }
    }
}
