//! The windows of a convolution as rows of an integer product, read where they lie: no window is spelled out.
//!
//! Pictures are pixels of channels, `[image][row][column][channel]`. A band of rows is copied between zeros for the padding and
//! widened to what the product takes; a window is then one run of elements for each of its rows, or for each of its elements
//! where channels are grouped or columns dilated. Neighbouring outputs of few channels are computed together as the channels of
//! one wider output, whose window spans theirs: vectors stay full.

use crate::conv::ConvShape;
use crate::int_gemm::{LeftRows, Places, Starts};
use std::ops::Range;

/// Elements of a band: they stay in the second-level cache.
const BAND: usize = 1 << 15;
/// Lanes of a vector of sums.
const LANES: usize = 8;
/// Columns of joined outputs at most.
const MAX_COLUMNS: usize = 64;
/// Elements after a band that groups may reach.
const SLACK: usize = 4;

/// The windows of a convolution.
#[derive(Clone, Debug)]
pub struct Windows {
    shape: ConvShape,
    output: [usize; 2],
    /// Neighbouring outputs of a row that are computed together.
    joined: usize,
    /// Rows of outputs of a band.
    band: usize,
    /// Elements of a row of a band.
    pitch: usize,
    run: usize,
    runs: Vec<usize>,
    starts: Places,
}

impl Windows {
    /// The windows of a convolution.
    pub fn new(shape: ConvShape) -> Self {
        let channels = shape.in_channels;
        let pitch = (shape.input[1] + 2 * shape.padding[1]) * channels;
        let output = shape.output();
        let joined = joined(&shape, output[1]);
        let tap = |ky: usize| ky * shape.dilation[0] * pitch;
        let (run, runs) = if has_whole_rows(&shape) {
            let run = span(&shape, joined);
            (run, (0..shape.kernel[0]).map(tap).collect())
        } else {
            let place = |kx: usize| kx * shape.dilation[1] * channels;
            let columns = 0..shape.kernel[1];
            let runs = (0..shape.kernel[0])
                .flat_map(|ky| columns.clone().map(move |kx| tap(ky) + place(kx)));
            (channels / shape.groups, runs.collect())
        };
        let step = shape.stride[0] * pitch;
        let band = (BAND / step.max(1)).clamp(1, output[0].max(1));
        let per_row = output[1] / joined;
        let starts = (0..band * per_row)
            .map(|at| at / per_row * step + at % per_row * joined * shape.stride[1] * channels);
        Self {
            shape,
            output,
            joined,
            band,
            pitch,
            run,
            runs,
            starts: Places::new(starts.collect()),
        }
    }

    /// The sizes of the convolution.
    pub fn shape(&self) -> &ConvShape {
        &self.shape
    }

    /// True when zeros stand where the picture has no element.
    pub fn has_padding(&self) -> bool {
        self.shape.padding != [0; 2]
    }

    /// Channels of the result in a group.
    pub fn group_channels(&self) -> usize {
        self.shape.out_channels / self.shape.groups
    }

    /// Columns of the product of a group: the channels of joined outputs, one output after the other.
    pub fn columns(&self) -> usize {
        self.joined * self.group_channels()
    }

    /// Runs of a window, and the elements of each.
    pub fn runs(&self) -> [usize; 2] {
        [self.runs.len(), self.run]
    }

    /// The weights of a group, `[run][element][column]`, from those of the graph, `[channel][in / groups][ky][kx]`.
    pub fn weights<T: Copy + Default>(&self, group: usize, weights: &[T]) -> Vec<T> {
        let s = &self.shape;
        let (n, columns) = (self.group_channels(), self.columns());
        let (taps, depth) = (s.kernel[0] * s.kernel[1], s.in_channels / s.groups);
        let mut all = vec![T::default(); self.runs.len() * self.run * columns];
        for output in 0..self.joined {
            for channel in 0..n {
                let own = &weights[(group * n + channel) * depth * taps..][..depth * taps];
                for (at, &weight) in own.iter().enumerate() {
                    let (c, tap) = (at / taps, at % taps);
                    let (ky, kx) = (tap / s.kernel[1], tap % s.kernel[1]);
                    let element = if has_whole_rows(s) {
                        ky * self.run + (output * s.stride[1] + kx) * depth + c
                    } else {
                        tap * self.run + c
                    };
                    all[element * columns + output * n + channel] = weight;
                }
            }
        }
        all
    }

    /// The bands of all pictures: the picture, and its rows of outputs.
    pub fn bands(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let rows = self.output[0];
        let step = self.band;
        (0..self.shape.batch).flat_map(move |image| {
            (0..rows)
                .step_by(step)
                .map(move |first| (image, first..rows.min(first + step)))
        })
    }

    /// Elements of the copy of a band.
    pub fn band_len(&self) -> usize {
        (self.band.saturating_sub(1) * self.shape.stride[0] + self.reach()) * self.pitch + SLACK
    }

    /// Rows of the input that a window spans.
    fn reach(&self) -> usize {
        (self.shape.kernel[0].saturating_sub(1)) * self.shape.dilation[0] + 1
    }

    /// Copies the input of a band of a picture, `zero` in the padding.
    ///
    /// # Panics
    /// When the input or the copy is too short: an error of the caller.
    pub fn fill<T: Copy, U: Copy>(
        &self,
        x: &[T],
        image: usize,
        rows: &Range<usize>,
        (band, zero): (&mut [U], U),
        convert: impl Fn(&[T], &mut [U]),
    ) {
        let s = &self.shape;
        let (width, side) = (s.input[1] * s.in_channels, s.padding[1] * s.in_channels);
        let picture = &x[image * s.input[0] * width..][..s.input[0] * width];
        let count = (rows.len().saturating_sub(1)) * s.stride[0] + self.reach();
        for (at, to) in band
            .chunks_exact_mut(self.pitch.max(1))
            .take(count)
            .enumerate()
        {
            let row = (rows.start * s.stride[0] + at).checked_sub(s.padding[0]);
            match row.filter(|&row| row < s.input[0]) {
                Some(row) => {
                    let (left, rest) = to.split_at_mut(side);
                    let (own, right) = rest.split_at_mut(width);
                    left.fill(zero);
                    convert(&picture[row * width..][..width], own);
                    right.fill(zero);
                }
                None => to.fill(zero),
            }
        }
    }

    /// The windows of some rows of outputs of a group in the copy of a band, from window `first` on and `count` at most; `None`
    /// when there are no more.
    pub fn rows<'a, T>(
        &'a self,
        band: &'a [T],
        rows: &Range<usize>,
        group: usize,
        [first, count]: [usize; 2],
    ) -> Option<LeftRows<'a, T>> {
        let all = rows.len() * (self.output[1] / self.joined);
        let count = count.min(all.saturating_sub(first));
        (count > 0).then(|| LeftRows {
            elements: &band[group * (self.shape.in_channels / self.shape.groups)..],
            starts: Starts::At(&self.starts, first, count),
            runs: &self.runs,
            run: self.run,
        })
    }

    /// The element of a result of pixels from which window `first` of a band of a picture is written.
    pub fn result_start(&self, image: usize, rows: &Range<usize>, first: usize) -> usize {
        let outputs = (image * self.output[0] + rows.start) * self.output[1] + first * self.joined;
        outputs * self.shape.out_channels
    }
}

/// True when the elements of a row of a window follow each other.
fn has_whole_rows(s: &ConvShape) -> bool {
    s.groups == 1 && (s.dilation[1] == 1 || s.kernel[1] == 1)
}

/// Elements of a row of the window of joined outputs.
fn span(s: &ConvShape, joined: usize) -> usize {
    ((joined - 1) * s.stride[1] + s.kernel[1]) * s.in_channels
}

/// The number of outputs in a row of `width` that are best computed together: the most for the fewest products of vectors.
fn joined(s: &ConvShape, width: usize) -> usize {
    let cost = |joined: usize| {
        let vectors = (joined * s.out_channels).div_ceil(LANES);
        span(s, joined).div_ceil(2) * vectors * width / joined
    };
    let may_join = |&joined: &usize| {
        width.is_multiple_of(joined) && has_whole_rows(s) && joined * s.out_channels <= MAX_COLUMNS
    };
    let choices = (2..=LANES).filter(may_join);
    choices.fold(1, |best, joined| {
        if cost(joined) <= cost(best) {
            joined
        } else {
            best
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conv::tests::{for_each_product, square};
    use crate::int_gemm::{LeftOperand, gemm_rows, pack_b};
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;

    /// The result in pixels, from pictures in pixels.
    fn forward<T>(windows: &Windows, x: &[i8], weights: &[T::Right], wide: fn(i8) -> T) -> Vec<i32>
    where
        T: LeftOperand + Default,
        T::Right: LeftOperand + Default,
    {
        let s = windows.shape();
        let ([n_runs, run], n) = (windows.runs(), windows.columns());
        let own = windows.group_channels();
        // Whatever was in the copy before must not matter.
        let mut band = vec![wide(77); windows.band_len()];
        let mut y = vec![9; s.output_len()];
        for group in 0..s.groups {
            let matrix = windows.weights(group, weights);
            let padded = run.next_multiple_of(T::GROUP) * n;
            let mut packed = vec![T::Right::default(); n_runs * padded];
            for (from, to) in matrix.chunks(run * n).zip(packed.chunks_mut(padded)) {
                pack_b(run, n, from, n, 1, to);
            }
            for (image, rows) in windows.bands() {
                windows.fill(x, image, &rows, (&mut band, wide(0)), |from, to| {
                    to.iter_mut().zip(from).for_each(|(to, &x)| *to = wide(x));
                });
                let mut first = 0;
                while let Some(left) = windows.rows(&band, &rows, group, [first, 5]) {
                    let m = left.starts.len();
                    let mut c = vec![0; m * n];
                    gemm_rows(&left, n, &packed, None, &mut c, n);
                    let start = windows.result_start(image, &rows, first);
                    for (at, c) in c.chunks(own).enumerate() {
                        let to = start + at * s.out_channels + group * own;
                        y[to..to + own].copy_from_slice(c);
                    }
                    first += m;
                }
            }
        }
        y
    }

    fn check(s: &ConvShape) {
        let small = |n: usize, seed: u64| -> Vec<i8> {
            noise(n, seed).iter().map(|x| (x * 120.0) as i8).collect()
        };
        let (x, weights) = (small(s.input_len(), 1), small(s.weight_len(), 2));
        let mut want = vec![0; s.output_len()];
        // From planes to pixels.
        let pixels = |at: usize, channels: usize, [h, w]: [usize; 2]| {
            let (image, c, place) = (
                at / (channels * h * w),
                at / (h * w) % channels,
                at % (h * w),
            );
            (image * h * w + place) * channels + c
        };
        for_each_product(s, |i, p, o| {
            let i = pixels(i, s.in_channels, s.input);
            want[pixels(o, s.out_channels, s.output())] += i32::from(x[i]) * i32::from(weights[p]);
        });
        let wide: Vec<i16> = weights.iter().map(|&w| i16::from(w)).collect();
        let windows = Windows::new(*s);
        on_every_isa(|isa| {
            assert_eq!(
                forward::<i16>(&windows, &x, &wide, i16::from),
                want,
                "{isa:?} {s:?}"
            );
            assert_eq!(
                forward::<i8>(&windows, &x, &weights, |x| x),
                want,
                "{isa:?} {s:?}"
            );
        });
    }

    #[test]
    fn windows_are_those_of_a_convolution() {
        check(&square(2, [1, 6, 1], 12, 5, 1, 2));
        check(&square(2, [6, 16, 1], 9, 5, 1, 0));
        check(&square(1, [3, 4, 1], 8, 3, 2, 1));
        check(&square(2, [4, 8, 2], 7, 3, 1, 1));
        check(&square(1, [5, 5, 5], 6, 3, 2, 1));
        check(&square(3, [7, 2, 1], 4, 1, 1, 0));
        check(&square(1, [2, 3, 1], 3, 3, 1, 3));
        for dilation in [[1, 2], [2, 1], [3, 2]] {
            check(&ConvShape {
                dilation,
                ..square(2, [2, 5, 1], 9, 3, 1, 2)
            });
        }
    }

    #[test]
    fn a_picture_of_many_bands_is_whole() {
        let shape = ConvShape {
            input: [9, 4097],
            ..square(2, [3, 2, 1], 1, 3, 2, 1)
        };
        assert!(Windows::new(shape).bands().count() > 2 * 2);
        check(&shape);
    }

    #[test]
    fn outputs_are_joined_while_that_costs_nothing() {
        let joined = |channels: [usize; 3], input: usize, kernel: usize| {
            Windows::new(square(1, channels, input, kernel, 1, kernel / 2)).joined
        };
        assert_eq!(
            joined([1, 6, 1], 28, 5),
            4,
            "three vectors for four outputs"
        );
        assert_eq!(joined([6, 16, 1], 14, 5), 1, "vectors are full");
        assert_eq!(
            joined([1, 2, 1], 27, 3),
            3,
            "all outputs of a row are joined alike"
        );
        assert_eq!(
            joined([8, 8, 8], 8, 3),
            1,
            "groups are products of their own"
        );
    }
}
