//! The source pixels that the taps of a window read, for target pixels in an order that lets whole tiles skip padding.

use crate::conv::ConvShape;
use std::ops::Range;

/// Pointers of one block of pixels: on the stack.
const MAX_ENTRIES: usize = 2048;
/// Pixels of a block; a multiple of every tile's rows.
pub(super) const MAX_PIXELS: usize = 240;
/// Rows of the tallest tile.
pub(super) const TALLEST: usize = 12;
/// Elements of the largest window whose pointers fit.
pub(super) const MAX_WINDOW: usize = MAX_ENTRIES / TALLEST;
/// Planes up to this size are walked position by position over all images, so that the pixels of a tile lose the same taps
/// to the padding.
const SMALL_PLANE: usize = 64;
/// A source outside the plane.
const OUTSIDE: u32 = u32::MAX;

/// A map from target pixels and taps to source pixels.
#[derive(Clone, Debug)]
pub(super) struct Taps {
    batch: usize,
    /// Pixels of the target and of the source plane.
    target: usize,
    source: usize,
    /// Positions of the target plane in the order they are walked.
    order: Vec<u32>,
    by_position: bool,
    /// Per position and live tap: its source in the plane.
    sources: Sources,
    /// Window elements that some target reads, `ky · kw + kx`.
    pub(super) live: Vec<usize>,
    /// Stretches of the order.
    runs: Vec<Run>,
}

/// Neighbouring target pixels whose sources are the same distance apart for every tap, and inside or outside together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first pixel, by its number in the walk over all images, and their number.
    pub(super) first: usize,
    pub(super) len: usize,
    /// Pixels from one target, and from one source, to the next.
    pub(super) target_step: usize,
    pub(super) source_step: usize,
}

/// Sources along each axis; both must be inside.
#[derive(Clone, Debug)]
struct Sources {
    width: usize,
    source_width: usize,
    /// Columns of the window that some target reads; its live taps are whole rows of them.
    live_columns: usize,
    /// Neighbouring columns of the window read neighbouring pixels.
    is_dense: bool,
    /// `[y · live + t]` and `[x · live + t]`.
    rows: Vec<u32>,
    columns: Vec<u32>,
}

/// A target pixel: the first source pixel of its image, and its rows in the tables of both axes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    first: usize,
    row: usize,
    column: usize,
}

/// The input that an output reads through a tap along an axis.
fn input_of(s: &ConvShape, axis: usize, output: usize, tap: usize) -> Option<usize> {
    let at = (output * s.stride[axis] + tap * s.dilation[axis]).wrapping_sub(s.padding[axis]);
    (at < s.input[axis]).then_some(at)
}

/// True when some output reads an input along an axis.
pub(super) fn reads(s: &ConvShape, axis: usize) -> bool {
    let mut outputs = 0..s.output()[axis];
    outputs.any(|output| (0..s.kernel[axis]).any(|tap| input_of(s, axis, output, tap).is_some()))
}

impl Taps {
    /// Outputs reading inputs.
    pub(super) fn forward(s: &ConvShape) -> Self {
        let source = |axis: usize, target: usize, tap: usize| input_of(s, axis, target, tap);
        Self::new(s, s.output(), s.input, ([1, 1], s.dilation[1] == 1), source)
    }

    /// Inputs reading the outputs that read them.
    pub(super) fn backward(s: &ConvShape) -> Self {
        let output = s.output();
        let source = |axis: usize, target: usize, tap: usize| {
            let at = (target + s.padding[axis]).checked_sub(tap * s.dilation[axis])?;
            let inside = at.is_multiple_of(s.stride[axis]) && at / s.stride[axis] < output[axis];
            inside.then(|| at / s.stride[axis])
        };
        Self::new(s, s.input, output, (s.stride, false), source)
    }

    /// Targets `phase` apart read through the same taps, so they are walked together. A dense map reads neighbouring pixels
    /// through neighbouring taps.
    fn new(
        s: &ConvShape,
        target: [usize; 2],
        source: [usize; 2],
        (phase, is_dense): ([usize; 2], bool),
        place: impl Fn(usize, usize, usize) -> Option<usize>,
    ) -> Self {
        let reads =
            |axis: usize, tap: usize| (0..target[axis]).any(|t| place(axis, t, tap).is_some());
        let live: Vec<usize> = (0..s.kernel[0] * s.kernel[1])
            .filter(|tap| reads(0, tap / s.kernel[1]) && reads(1, tap % s.kernel[1]))
            .collect();
        let along = |axis: usize| {
            let tap = move |tap: usize| [tap / s.kernel[1], tap % s.kernel[1]][axis];
            let place = &place;
            let sources = (0..target[axis]).flat_map(|t| {
                live.iter()
                    .map(move |&at| place(axis, t, tap(at)).map_or(OUTSIDE, |p| p as u32))
            });
            sources.collect::<Vec<u32>>()
        };
        let sources = Sources {
            width: target[1],
            source_width: source[1],
            live_columns: (0..s.kernel[1]).filter(|&tap| reads(1, tap)).count(),
            is_dense,
            rows: along(0),
            columns: along(1),
        };
        let plane = target[0] * target[1];
        let mut taps = Self {
            batch: s.batch,
            target: plane,
            source: source[0] * source[1],
            order: walk(target, phase),
            by_position: plane <= SMALL_PLANE,
            sources,
            live,
            runs: Vec::new(),
        };
        taps.runs = taps.find_runs();
        taps
    }

    /// The runs of the walk over all images.
    pub(super) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let images = if self.by_position { 1 } else { self.batch };
        (0..images).flat_map(move |image| {
            self.runs.iter().map(move |run| Run {
                first: image * self.target + run.first,
                ..*run
            })
        })
    }

    /// The runs of one plane, or, position by position, of all images.
    fn find_runs(&self) -> Vec<Run> {
        if self.by_position {
            let run = |position: usize| Run {
                first: position * self.batch,
                len: self.batch,
                target_step: self.target,
                source_step: self.source,
            };
            return (0..self.target).map(run).collect();
        }
        let mut runs: Vec<Run> = Vec::new();
        for at in 0..self.target {
            let extended = runs.last_mut().is_some_and(|run| self.extend(run, at));
            if !extended {
                runs.push(Run {
                    first: at,
                    len: 1,
                    target_step: 0,
                    source_step: 0,
                });
            }
        }
        runs
    }

    /// Adds the pixel after a run to it, if it fits.
    fn extend(&self, run: &mut Run, at: usize) -> bool {
        let (last, next) = (self.place(at - 1), self.place(at));
        let target_step = self.target(at).wrapping_sub(self.target(at - 1));
        let mut source_step = None;
        for tap in 0..self.live.len() {
            let step = match (self.source(last, tap), self.source(next, tap)) {
                (Some(last), Some(next)) => next.wrapping_sub(last),
                (None, None) => continue,
                _ => return false,
            };
            if *source_step.get_or_insert(step) != step {
                return false;
            }
        }
        let source_step = source_step.unwrap_or(0);
        let steps = (target_step, source_step);
        let forward = target_step <= self.target && source_step <= self.source;
        if !forward || (run.len > 1 && steps != (run.target_step, run.source_step)) {
            return false;
        }
        (run.target_step, run.source_step) = steps;
        run.len += 1;
        true
    }

    /// Target pixels of all images.
    pub(super) fn pixels(&self) -> usize {
        self.batch * self.target
    }

    /// Pixels of one block.
    pub(super) fn block(&self) -> usize {
        let fitting = MAX_ENTRIES / self.live.len().max(1) / TALLEST * TALLEST;
        fitting.clamp(TALLEST, MAX_PIXELS)
    }

    /// True when every tile of `rows` rows lies at one position, so that it skips all taps that are padding there.
    pub(super) fn skips_with(&self, rows: usize) -> bool {
        self.by_position && self.live.len() > 1 && self.batch.is_multiple_of(rows)
    }

    /// The image and position of the `at`-th target pixel.
    #[inline(always)]
    pub(super) fn pixel(&self, at: usize) -> (usize, usize) {
        if self.by_position {
            (at % self.batch, self.order[at / self.batch] as usize)
        } else {
            (at / self.target, self.order[at % self.target] as usize)
        }
    }

    /// The index of the `at`-th target pixel in memory.
    #[inline(always)]
    pub(super) fn target(&self, at: usize) -> usize {
        let (image, position) = self.pixel(at);
        image * self.target + position
    }

    /// The place of the `at`-th target pixel, for [`Taps::source`].
    #[inline(always)]
    pub(super) fn place(&self, at: usize) -> Place {
        let (image, position) = self.pixel(at);
        let n = self.live.len();
        Place {
            first: image * self.source,
            row: position / self.sources.width * n,
            column: position % self.sources.width * n,
        }
    }

    /// The index in memory of the source pixel of one live tap.
    #[inline(always)]
    pub(super) fn source(&self, place: Place, tap: usize) -> Option<usize> {
        let row = self.sources.rows[place.row + tap];
        let column = self.sources.columns[place.column + tap];
        let source = row as usize * self.sources.source_width + column as usize;
        (row != OUTSIDE && column != OUTSIDE).then_some(place.first + source)
    }

    /// Writes the windows of some target pixels, `[pixel][tap][channel]`, with zeros for the padding.
    pub(super) fn spell_out(
        &self,
        pixels: Range<usize>,
        source: &[f32],
        channels: usize,
        windows: &mut [f32],
    ) {
        let width = self.sources.live_columns;
        let depth = self.live.len() * channels;
        for (at, window) in pixels.zip(windows.chunks_exact_mut(depth.max(1))) {
            let place = self.place(at);
            let columns = &self.sources.columns[place.column..][..width];
            let run = Inside::of(columns).filter(|_| self.sources.is_dense);
            for (row, window) in window.chunks_exact_mut(width * channels).enumerate() {
                let row = self.sources.rows[place.row + row * width];
                if row == OUTSIDE {
                    window.fill(0.0);
                    continue;
                }
                let line = place.first + row as usize * self.sources.source_width;
                if let Some(run) = &run {
                    run.copy(&source[line * channels..], channels, window);
                    continue;
                }
                for (&column, window) in columns.iter().zip(window.chunks_exact_mut(channels)) {
                    if column == OUTSIDE {
                        window.fill(0.0);
                    } else {
                        let pixel = line + column as usize;
                        window.copy_from_slice(&source[pixel * channels..][..channels]);
                    }
                }
            }
        }
    }

    /// Calls `f(tap, source)` for every live tap of the `at`-th target pixel, with the index of the source pixel in memory.
    #[inline(always)]
    pub(super) fn for_each_source(&self, at: usize, mut f: impl FnMut(usize, Option<usize>)) {
        let place = self.place(at);
        for tap in 0..self.live.len() {
            f(tap, self.source(place, tap));
        }
    }
}

/// The taps of a window's row that are inside the plane, where they are neighbours and read neighbouring pixels.
struct Inside {
    first: usize,
    count: usize,
    column: usize,
}

impl Inside {
    fn of(columns: &[u32]) -> Option<Self> {
        let inside = |&column: &u32| column != OUTSIDE;
        let first = columns.iter().position(inside)?;
        let count = columns[first..].iter().take_while(|&c| inside(c)).count();
        Some(Self {
            first,
            count,
            column: columns[first] as usize,
        })
    }

    /// Copies a row of the window, with zeros around the taps that are inside.
    #[inline(always)]
    fn copy(&self, line: &[f32], channels: usize, window: &mut [f32]) {
        let (from, len) = (self.first * channels, self.count * channels);
        let run = &line[self.column * channels..][..len];
        if len == window.len() {
            window.copy_from_slice(run);
            return;
        }
        window[..from].fill(0.0);
        window[from..from + len].copy_from_slice(run);
        window[from + len..].fill(0.0);
    }
}

/// Positions of a plane, those of one phase after those of another.
fn walk([h, w]: [usize; 2], phase: [usize; 2]) -> Vec<u32> {
    let mut order = Vec::with_capacity(h * w);
    for (py, px) in (0..phase[0]).flat_map(|y| (0..phase[1]).map(move |x| (y, x))) {
        for y in (py..h).step_by(phase[0]) {
            order.extend((px..w).step_by(phase[1]).map(|x| (y * w + x) as u32));
        }
    }
    order
}

/// Pointers to the sources of a block of pixels, in tiles of a fixed number of rows: `[tile][tap][row]`. Padding and rows
/// beyond the last pixel point at zeros.
pub(super) struct Pointers {
    entries: [*const f32; MAX_ENTRIES],
}

impl Pointers {
    pub(super) fn new() -> Self {
        Self {
            entries: [std::ptr::null(); MAX_ENTRIES],
        }
    }

    /// Fills in the pointers of target pixels `pixels` for tiles of `rows` rows.
    pub(super) fn fill(
        &mut self,
        taps: &Taps,
        pixels: Range<usize>,
        rows: usize,
        source: &[f32],
        channels: usize,
        zeros: *const f32,
    ) {
        let n = taps.live.len();
        let padded = pixels.len().next_multiple_of(rows);
        for row in 0..padded {
            let first = row / rows * rows * n + row % rows;
            let at = pixels.start + row;
            if at >= pixels.end {
                for tap in 0..n {
                    self.entries[first + tap * rows] = zeros;
                }
                continue;
            }
            taps.for_each_source(at, |tap, pixel| {
                let pointer = pixel.map_or(zeros, |pixel| source[pixel * channels..].as_ptr());
                self.entries[first + tap * rows] = pointer;
            });
        }
    }

    /// Points at `rows` consecutive rows of `depth` floats: windows that were spelled out.
    pub(super) fn fill_rows(&mut self, rows: usize, depth: usize, spelled_out: &[f32]) {
        for (row, entry) in self.entries[..rows].iter_mut().enumerate() {
            *entry = spelled_out[row * depth..][..depth].as_ptr();
        }
    }

    /// The pointers of a tile, from live tap `tap` on.
    pub(super) fn tile(
        &self,
        tile: usize,
        rows: usize,
        taps: usize,
        tap: usize,
    ) -> *const *const f32 {
        self.entries[tile * rows * taps + tap * rows..].as_ptr()
    }
}
