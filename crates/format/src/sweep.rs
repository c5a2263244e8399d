//! Operations on an array whose elements share scales: block by block where their runs are long, otherwise row by row
//! over many blocks side by side.
//!
//! Row by row, memory is read in order, and what a block costs beside its elements is paid for many of them in one loop
//! of its own: the scales of many blocks make vector instructions, and none waits for the one before it.

use crate::block::{Block, Blocks, Sharing};
use crate::codes::Scale;
use crate::magnitude;
use crate::number_format::{Element, NumberFormat};
use crate::round::{Lane, RoundingRule};

/// The number of columns swept at a time: the state of their blocks stays in the nearest cache.
const COLUMNS: usize = 1024;

/// An operation on the elements of a block whose rule is known.
pub(crate) trait Task<E: Element> {
    /// Does it to a run of elements of one block.
    fn run(element: &E, x: &[f32], out: &mut [f32]);
    /// The two numbers that [`Self::one`] needs of a block; nothing if it is not able to do it.
    fn lane(element: &E) -> Option<Lane>;
    /// Does it to one element by the numbers of its block; `element` is a rule of the same format.
    fn one(element: &E, lane: Lane, x: f32, out: f32) -> f32;
}

/// Rounding.
pub(crate) struct Round;

impl<E: Element> Task<E> for Round {
    #[inline(always)]
    fn run(element: &E, x: &[f32], y: &mut [f32]) {
        element.rule().round(x, y);
    }

    #[inline(always)]
    fn lane(element: &E) -> Option<Lane> {
        element.rule().lane()
    }

    #[inline(always)]
    fn one(element: &E, lane: Lane, x: f32, _: f32) -> f32 {
        element.rule().round_lane(x, lane)
    }
}

/// Zeroing the gradient of what saturates.
pub(crate) struct Mask;

impl<E: Element> Task<E> for Mask {
    #[inline(always)]
    fn run(element: &E, x: &[f32], grad: &mut [f32]) {
        let (lo, hi) = element.rule().pass();
        mask(x, grad, lo, hi);
    }

    #[inline(always)]
    fn lane(element: &E) -> Option<Lane> {
        Some(element.rule().pass().into())
    }

    #[inline(always)]
    fn one(_: &E, [lo, hi]: Lane, x: f32, grad: f32) -> f32 {
        if x < lo || x > hi { 0.0 } else { grad }
    }
}

/// Zeroes the gradient where `x` is beyond the bounds. By way of a block of its own: the compiler would store only the zeros,
/// and masked stores are microcode on some CPUs.
#[inline(always)]
pub(crate) fn mask(x: &[f32], grad: &mut [f32], lo: f32, hi: f32) {
    const LANES: usize = 16;
    let kept = |x: f32, grad: f32| if x < lo || x > hi { 0.0 } else { grad };
    let ((blocks, rest), (x, x_rest)) = (grad.as_chunks_mut::<LANES>(), x.as_chunks::<LANES>());
    for (block, x) in blocks.iter_mut().zip(x) {
        let mut new = [0.0; LANES];
        for ((new, &grad), &x) in new.iter_mut().zip(&*block).zip(x) {
            *new = kept(x, grad);
        }
        *block = std::hint::black_box(new);
    }
    for (grad, &x) in rest.iter_mut().zip(x_rest) {
        *grad = kept(x, *grad);
    }
}

/// Does the task to every block of an array.
#[inline(always)]
pub(crate) fn over_blocks<F: NumberFormat, T: Task<F::Element>>(
    format: &F,
    x: &[f32],
    shape: &[usize],
    out: &mut [f32],
) {
    let sharing = format.sharing();
    if x.is_empty() {
        return;
    }
    if matches!(sharing, Sharing::Nobody) {
        return T::run(&format.element(Scale::One), x, out);
    }
    let mut blocks = Blocks::new(shape, sharing);
    let in_blocks = matches!(sharing, Sharing::Blocks(_));
    let unit = format.element(format.unit_scale());
    if in_blocks
        && T::lane(&unit).is_some()
        && let Some(single) = blocks.join(COLUMNS)
    {
        return sweep::<F, T>(format, &unit, blocks, single, x, out);
    }
    while blocks.next_block() {
        let runs = &mut blocks;
        let mut block = Block { x, runs };
        let element = if in_blocks {
            element_for(format, block.abs_max())
        } else {
            format.element(format.fit(&mut block))
        };
        while let Some(run) = blocks.next_run() {
            T::run(&element, &x[run.clone()], &mut out[run]);
        }
    }
}

/// Does the task to joined blocks, each `single` elements of a run: once over the rows for the largest magnitudes, and
/// once more with what follows from them.
#[inline(always)]
fn sweep<F: NumberFormat, T: Task<F::Element>>(
    format: &F,
    unit: &F::Element,
    mut blocks: Blocks,
    single: usize,
    x: &[f32],
    out: &mut [f32],
) {
    let (mut maxima, mut lanes) = ([0; COLUMNS], [Lane::default(); COLUMNS]);
    while blocks.next_block() {
        let n_blocks = blocks.run_len().div_ceil(single);
        let (maxima, lanes) = (&mut maxima[..n_blocks], &mut lanes[..n_blocks]);
        maxima.fill(0);
        while let Some(run) = blocks.next_run() {
            for (max, x) in maxima.iter_mut().zip(x[run].chunks(single)) {
                *max = magnitude::max_bits(*max, x);
            }
        }
        let all_have_lanes = find_lanes::<F, T>(format, maxima, lanes);
        while let Some(run) = blocks.next_run() {
            let x = x[run.clone()].chunks(single);
            let parts = x.zip(out[run].chunks_mut(single));
            if all_have_lanes {
                for ((x, out), &lane) in parts.zip(&*lanes) {
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = T::one(unit, lane, x, *out);
                    }
                }
            } else {
                for ((x, out), &max) in parts.zip(&*maxima) {
                    T::run(&element_for(format, f32::from_bits(max)), x, out);
                }
            }
        }
    }
}

/// The lane of each block, by the bits of its largest magnitude; whether there is one for all of them.
#[inline(always)]
fn find_lanes<F: NumberFormat, T: Task<F::Element>>(
    format: &F,
    maxima: &[u32],
    lanes: &mut [Lane],
) -> bool {
    let mut all = true;
    for (lane, &max) in lanes.iter_mut().zip(maxima) {
        let found = T::lane(&element_for(format, f32::from_bits(max)));
        all &= found.is_some();
        *lane = found.unwrap_or_default();
    }
    all
}

/// The rule for a block with this largest magnitude.
#[inline(always)]
fn element_for<F: NumberFormat>(format: &F, abs_max: f32) -> F::Element {
    // Zeros are zeros under any scale, and the smallest one may be beyond what a lane can do.
    format.element(if abs_max == 0.0 {
        format.unit_scale()
    } else {
        format.scale_for(abs_max)
    })
}
