//! The gradient of the weights: outer products of source and gradient pixels, tap by tap.

use super::pack::{Block, NARROW, Packing, WIDE};
use super::taps::{Place, Taps};
use crate::isa::{Isa, isa, vector_versions};
use crate::simd::Vector;
use std::ops::Range;

/// Pixels of one block: their gradients are copied so that tiles read them in a row.
const PIXELS: usize = 240;

/// Operands of a weight gradient: `dw[tap] += Σ x[source pixel of the tap] ⊗ dy[target pixel]`.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub(super) taps: &'a Taps,
    pub(super) packing: &'a Packing,
    /// As in a product.
    pub(super) spells_out: bool,
    pub(super) x: &'a [f32],
    pub(super) dy: &'a [f32],
}

/// Pixels that meet in one tap.
#[derive(Clone, Copy)]
struct Pair {
    x: *const f32,
    /// The pixel in the block.
    dy: usize,
}

/// One tile: MR inputs × a block of outputs over some pairs.
#[derive(Clone, Copy)]
struct Tile {
    pairs: *const Pair,
    count: usize,
    input: usize,
    /// Gradients of the block's pixels, as wide as the tile.
    dy: *const f32,
    /// The place that the sums are added to.
    dw: *mut f32,
    /// From one block of outputs to the next, in gradients and in sums.
    dy_stride: usize,
    dw_stride: usize,
}

/// Floats of working memory: gradients of a block of pixels, and its windows where they are spelled out.
pub(super) fn scratch_len(packing: &Packing, spells_out: bool) -> usize {
    let windows = if spells_out { packing.depth() } else { 0 };
    PIXELS * (packing.outputs.next_multiple_of(WIDE) + windows)
}

/// Adds up the packed gradient, which is overwritten.
pub(super) fn gradient(o: &Operands, packed: &mut [f32], scratch: &mut [f32]) {
    let packed = &mut packed[..o.packing.len()];
    packed.fill(0.0);
    let (copied, windows) = scratch.split_at_mut(PIXELS * o.packing.outputs.next_multiple_of(WIDE));
    for from in (0..o.taps.pixels()).step_by(PIXELS) {
        let pixels = from..o.taps.pixels().min(from + PIXELS);
        copy_gradients(o, pixels.clone(), copied);
        if o.spells_out {
            o.taps
                .spell_out(pixels.clone(), o.x, o.packing.inputs, windows);
            let depth = o.packing.depth();
            let pairs = windows.chunks_exact(depth).take(pixels.len());
            let pairs = pairs.enumerate().map(|(dy, window)| Pair {
                x: window.as_ptr(),
                dy,
            });
            accumulate(o, pairs, (0, depth), copied, packed);
            continue;
        }
        let inputs = o.packing.inputs;
        let mut places = [Place::default(); PIXELS];
        for (place, at) in places.iter_mut().zip(pixels.clone()) {
            *place = o.taps.place(at);
        }
        for tap in 0..o.packing.live.len() {
            let places = places[..pixels.len()].iter().enumerate();
            let pairs = places.filter_map(|(dy, &place)| {
                let pixel = o.taps.source(place, tap)?;
                let x = o.x[pixel * inputs..][..inputs].as_ptr();
                Some(Pair { x, dy })
            });
            accumulate(o, pairs, (tap * inputs, inputs), copied, packed);
        }
    }
}

/// Gradients of a block of pixels, `[block of outputs][pixel][output]`, with zeros beyond the last output.
fn copy_gradients(o: &Operands, pixels: Range<usize>, copied: &mut [f32]) {
    let outputs = o.packing.outputs;
    for block in o.packing.blocks() {
        let copied = &mut copied[block.first * PIXELS..];
        for (at, row) in pixels.clone().zip(copied.chunks_exact_mut(block.width)) {
            let dy = &o.dy[o.taps.target(at) * outputs + block.first..][..block.len];
            if let (Ok(dy), Ok(row)) = (
                <&[f32; WIDE]>::try_from(dy),
                <&mut [f32; WIDE]>::try_from(&mut *row),
            ) {
                *row = *dy;
                continue;
            }
            row[..block.len].copy_from_slice(dy);
            row[block.len..].fill(0.0);
        }
    }
}

/// Adds the outer products of pairs to the rows `first..first + inputs` of every block of the packed gradient.
fn accumulate(
    o: &Operands,
    pairs: impl Iterator<Item = Pair>,
    (first, inputs): (usize, usize),
    copied: &[f32],
    packed: &mut [f32],
) {
    let nothing = Pair {
        x: std::ptr::null(),
        dy: 0,
    };
    let (mut list, mut count) = ([nothing; PIXELS], 0);
    for (entry, pair) in list.iter_mut().zip(pairs) {
        *entry = pair;
        count += 1;
    }
    if count == 0 {
        return;
    }
    let mut blocks = o.packing.blocks().peekable();
    while let Some(block) = blocks.next() {
        let second = blocks.next_if(|second| isa() == Isa::Avx512 && second.width == WIDE);
        let last = second.unwrap_or(block);
        let (begin, end) = (
            block.start + first * block.width,
            last.start + first * last.width,
        );
        let rows = &mut packed[begin..end + inputs * last.width];
        let gradients = &copied[block.first * PIXELS..last.first * PIXELS + PIXELS * last.width];
        let tile = Tile {
            pairs: list.as_ptr(),
            count,
            input: 0,
            dy: gradients.as_ptr(),
            dw: rows.as_mut_ptr(),
            dy_stride: (last.first - block.first) * PIXELS,
            dw_stride: end - begin,
        };
        // SAFETY: each pair points at `inputs` floats and names a pixel of the block, whose gradients are as wide as
        // the blocks; so are the rows of the packed gradient.
        unsafe { all_inputs(tile, inputs, block, second.is_some()) };
    }
}

vector_versions! {
    unsafe fn all_inputs<V>(t: Tile, inputs: usize, block: Block, is_pair: bool) {
        match (block.width, V::LANES) {
            _ if is_pair => rows::<V, 12, 2, WIDE>(t, inputs),
            (WIDE, 16) => rows::<V, 12, 1, WIDE>(t, inputs),
            (WIDE, 8) => rows::<V, 6, 2, WIDE>(t, inputs),
            (WIDE, _) => rows::<V, 2, 4, WIDE>(t, inputs),
            (_, 16 | 8) => rows::<V, 12, 1, NARROW>(t, inputs),
            _ => rows::<V, 4, 2, NARROW>(t, inputs),
        }
    }
}

/// Tiles of MR inputs, then of 4, 2, 1. NV vectors are one block of WIDTH outputs, or a block each where a vector is as wide.
#[inline(always)]
unsafe fn rows<V: Vector, const MR: usize, const NV: usize, const WIDTH: usize>(
    mut t: Tile,
    inputs: usize,
) {
    if V::LANES < WIDTH {
        (t.dy_stride, t.dw_stride) = (V::LANES, V::LANES);
    }
    // SAFETY: a tile is run only where it has its inputs.
    unsafe {
        while t.input < inputs {
            let rows = match inputs - t.input {
                rest if rest >= MR => tile::<V, MR, NV, WIDTH>(&t),
                4.. if MR > 4 => tile::<V, 4, NV, WIDTH>(&t),
                2.. if MR > 2 => tile::<V, 2, NV, WIDTH>(&t),
                _ => tile::<V, 1, NV, WIDTH>(&t),
            };
            t.input += rows;
            t.dw = t.dw.add(rows * WIDTH);
        }
    }
}

/// One tile; returns MR.
#[inline(always)]
unsafe fn tile<V: Vector, const MR: usize, const NV: usize, const WIDTH: usize>(t: &Tile) -> usize {
    // SAFETY: the caller's pairs have MR inputs from `input` on, and gradients as wide as the tile.
    unsafe {
        let load = |at: *const f32| {
            if V::LANES > WIDTH {
                V::load_masked(at, V::mask(WIDTH))
            } else {
                V::load(at)
            }
        };
        let mut acc = [[V::splat(0.0); NV]; MR];
        for k in 0..t.count {
            let pair = *t.pairs.add(k);
            let (x, dy) = (pair.x.add(t.input), t.dy.add(pair.dy * WIDTH));
            let mut g = [V::splat(0.0); NV];
            for (j, g) in g.iter_mut().enumerate() {
                *g = load(dy.add(j * t.dy_stride));
            }
            for (i, acc) in acc.iter_mut().enumerate() {
                let x = V::splat(*x.add(i));
                for (acc, &g) in acc.iter_mut().zip(&g) {
                    *acc = x.fma(g, *acc);
                }
            }
        }
        for (i, acc) in acc.iter().enumerate() {
            for (j, &acc) in acc.iter().enumerate() {
                let at = t.dw.add(i * WIDTH + j * t.dw_stride);
                let sum = acc.add(load(at));
                if V::LANES > WIDTH {
                    sum.store_masked(at, V::mask(WIDTH));
                } else {
                    sum.store(at);
                }
            }
        }
    }
    MR
}
