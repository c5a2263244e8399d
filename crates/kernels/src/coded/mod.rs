//! Layers on codes with results in floats: codes times packed weights, exact in integers, scaled by a power of two.
//!
//! Codes are bytes where the machine multiplies bytes, or where they are so small that AVX2 does, and words elsewhere. They,
//! weights and starts lie in memory of floats, so that they fit wherever a caller keeps its floats.

mod encoding;
#[cfg(test)]
mod tests;

use crate::conv::ConvShape;
use crate::int_conv::Windows;
use crate::int_gemm::{LeftOperand, LeftRows, has_byte_products, narrow_chunk, pack_b};
use crate::isa::versions;
use crate::quantize::{quantize_codes_i8, quantize_codes_i16, quantize_codes_u8};
use encoding::{Direct, Encoding, Narrow, view, view_mut};
use format::Integer;
use std::cell::Cell;

/// Rows encoded at a time: codes and sums stay in the first-level cache.
const ROWS: usize = 64;
/// Sums of a block of windows.
const BLOCK: usize = 4096;

/// A fully connected layer, or a convolution over pixels of channels.
pub struct CodedLayer {
    rows: Rows,
    /// Columns of the product.
    columns: usize,
    data: Integer,
    elements: Elements,
}

/// The integers that codes are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elements {
    Bytes,
    /// Unsigned bytes, with the largest of them and the largest magnitude of a weight. A signed code is moved up by
    /// [`CodedLayer::offset`], and sums start that much lower.
    Narrow([u8; 2]),
    Words,
}

impl Elements {
    fn of(data: Integer, max_weight: u8) -> Self {
        let max_code = u8::MAX >> (8 - data.width.min(8));
        let largest = [max_code, max_weight];
        if has_byte_products() {
            Self::Bytes
        } else if narrow_chunk(largest).is_some() {
            Self::Narrow(largest)
        } else {
            Self::Words
        }
    }
}

enum Rows {
    Dense { k: usize },
    Windows(Box<Windows>),
}

impl CodedLayer {
    /// A layer of `n` outputs from `k` inputs, which are codes of a format of at most 8 bits; the codes of weights are of a
    /// magnitude of at most `max_weight`.
    pub fn dense(k: usize, n: usize, data: Integer, max_weight: u8) -> Self {
        Self::new(Rows::Dense { k }, n, data, max_weight)
    }

    /// A convolution of one group, or `None` when it has several.
    pub fn convolution(shape: ConvShape, data: Integer, max_weight: u8) -> Option<Self> {
        let windows = Windows::new(shape);
        let columns = windows.columns();
        let rows = Rows::Windows(Box::new(windows));
        (shape.groups == 1).then(|| Self::new(rows, columns, data, max_weight))
    }

    fn new(rows: Rows, columns: usize, data: Integer, max_weight: u8) -> Self {
        Self {
            rows,
            columns,
            data,
            elements: Elements::of(data, max_weight),
        }
    }

    /// The byte of code 0.
    fn offset(&self) -> u8 {
        match self.elements {
            Elements::Narrow(_) if self.data.signed => 1 << (self.data.width.clamp(1, 8) - 1),
            _ => 0,
        }
    }

    /// Runs of a row of codes, and the elements of each.
    fn runs(&self) -> [usize; 2] {
        match &self.rows {
            Rows::Dense { k } => [1, *k],
            Rows::Windows(windows) => windows.runs(),
        }
    }

    /// Floats of memory that as many codes take, each run of them in whole groups.
    fn words(&self, runs: usize, run: usize) -> usize {
        let per_word = match self.elements {
            Elements::Words => 2,
            Elements::Bytes | Elements::Narrow(_) => 4,
        };
        runs * run.div_ceil(per_word)
    }

    /// Floats of the packed weights.
    fn weight_words(&self) -> usize {
        let [runs, run] = self.runs();
        self.words(runs, run) * self.columns
    }

    /// Floats of [`CodedLayer::pack`].
    pub fn packed_len(&self) -> usize {
        self.weight_words() + self.columns
    }

    /// Floats of working memory.
    pub fn scratch_len(&self) -> usize {
        match &self.rows {
            Rows::Dense { k } => self.words(ROWS, *k),
            Rows::Windows(windows) => self.words(1, windows.band_len()),
        }
    }

    /// Packs weights in the order of the graph, values of a signed format of at most 8 bits, and the codes that sums start
    /// from, one for every output.
    ///
    /// # Panics
    /// When lengths do not fit: an error of the caller.
    pub fn pack(&self, format: Integer, weights: &[f32], starts: &[i32], packed: &mut [f32]) {
        let (own, start) = packed.split_at_mut(self.weight_words());
        let mut codes = vec![0; weights.len()];
        quantize_codes_i16(format, weights, &mut codes);
        if self.elements == Elements::Words {
            self.pack_codes::<i16>(&codes, view_mut(own));
        } else {
            let bytes: Vec<i8> = codes.iter().map(|&code| code as i8).collect();
            self.pack_codes::<i8>(&bytes, view_mut(own));
        }
        let depth = (weights.len() / starts.len().max(1)).max(1);
        let sums = codes
            .chunks(depth)
            .map(|own| own.iter().map(|&code| i32::from(code)).sum::<i32>());
        let starts: Vec<i32> = starts
            .iter()
            .zip(sums)
            .map(|(start, sum)| start - i32::from(self.offset()) * sum)
            .collect();
        let own: &mut [i32] = view_mut(start);
        own.iter_mut()
            .zip(starts.iter().cycle())
            .for_each(|(to, start)| *to = *start);
    }

    fn pack_codes<T: LeftOperand + Default>(&self, codes: &[T], packed: &mut [T]) {
        let n = self.columns;
        match &self.rows {
            Rows::Dense { k } => pack_b(*k, n, codes, 1, *k, packed),
            Rows::Windows(windows) => {
                let [_, run] = windows.runs();
                let matrix = windows.weights(0, codes);
                let padded = run.next_multiple_of(T::GROUP) * n;
                let runs = matrix.chunks_exact((run * n).max(1));
                for (from, to) in runs.zip(packed.chunks_exact_mut(padded.max(1))) {
                    pack_b(run, n, from, n, 1, to);
                }
            }
        }
    }

    /// `y = min(max((start + codes(x)·weights)·scale, lo), hi)`. The sums are exact as long as they fit 32 bits, and the results
    /// as long as the sums fit 24. What is not a number has the code 0, and then the answer is `true`.
    ///
    /// # Panics
    /// When lengths do not fit: an error of the caller.
    pub fn forward(
        &self,
        x: &[f32],
        packed: &[f32],
        scaling: Scaling,
        y: &mut [f32],
        scratch: &mut [f32],
    ) -> bool {
        match (self.elements, self.data.signed) {
            (Elements::Bytes, true) => {
                self.run(&Direct(quantize_codes_i8), x, packed, scaling, y, scratch)
            }
            (Elements::Bytes, false) => {
                self.run(&Direct(quantize_codes_u8), x, packed, scaling, y, scratch)
            }
            (Elements::Words, _) => {
                self.run(&Direct(quantize_codes_i16), x, packed, scaling, y, scratch)
            }
            (Elements::Narrow(largest), _) => {
                let narrow = Narrow {
                    offset: self.offset(),
                    largest,
                };
                self.run(&narrow, x, packed, scaling, y, scratch)
            }
        }
    }

    fn run<E: Encoding>(
        &self,
        encoding: &E,
        x: &[f32],
        packed: &[f32],
        scaling: Scaling,
        y: &mut [f32],
        scratch: &mut [f32],
    ) -> bool {
        let (weights, start) = packed.split_at(self.weight_words());
        let (weights, start) = (view(weights), view(start));
        let codes: &mut [E::Element] = view_mut(scratch);
        let n = self.columns;
        let multiply = |rows: &LeftRows<E::Element>, y: &mut [f32]| {
            encoding.multiply(rows, n, weights, start, view_mut(y));
            scale_all(scaling, y);
        };
        match &self.rows {
            Rows::Dense { k } => {
                let pitch = k.next_multiple_of(E::Element::GROUP);
                let blocks = x.chunks(ROWS * k).zip(y.chunks_mut((ROWS * n).max(1)));
                for (x, y) in blocks {
                    let m = x.len() / k;
                    let rows = codes.chunks_exact_mut(pitch).zip(x.chunks_exact(*k));
                    if pitch == *k {
                        encoding.encode(self.data, x, &mut codes[..m * k]);
                    } else {
                        rows.for_each(|(row, x)| encoding.encode(self.data, x, &mut row[..*k]));
                    }
                    multiply(&LeftRows::dense(m, *k, codes), y);
                }
                has_nan(x)
            }
            Rows::Windows(windows) => {
                let step = (BLOCK / n.max(1)).max(1);
                let found = Cell::new(false);
                for (image, rows) in windows.bands() {
                    let band = (&mut *codes, encoding.zero());
                    windows.fill(x, image, &rows, band, |x, codes| {
                        encoding.encode(self.data, x, codes);
                        found.set(found.get() | has_nan(x));
                    });
                    let mut first = 0;
                    while let Some(left) = windows.rows(codes, &rows, 0, [first, step]) {
                        let count = left.starts.len();
                        let start = windows.result_start(image, &rows, first);
                        multiply(&left, &mut y[start..start + count * n]);
                        first += count;
                    }
                }
                found.get()
            }
        }
    }

    /// Makes NaN of every output that sees an input that is not a number, as floats would.
    pub fn spread_nan(&self, x: &[f32], y: &mut [f32]) {
        match &self.rows {
            Rows::Dense { k } => {
                for (x, y) in x.chunks(*k).zip(y.chunks_mut(self.columns.max(1))) {
                    if has_nan(x) {
                        y.fill(f32::NAN);
                    }
                }
            }
            Rows::Windows(windows) => {
                let shape = *windows.shape();
                let mut marks = vec![1.0; y.len()];
                let ones = vec![1.0; shape.weight_len()];
                let bit = Integer {
                    width: 2,
                    frac_width: 0,
                    signed: false,
                    ..self.data
                };
                let count = Self::new(Rows::Windows(windows.clone()), self.columns, bit, 1);
                let is_nan: Vec<f32> = x.iter().map(|x| f32::from(x.is_nan())).collect();
                let mut packed = vec![0.0; count.packed_len()];
                let one = Integer {
                    signed: true,
                    ..count.data
                };
                count.pack(one, &ones, &vec![0; shape.out_channels], &mut packed);
                let mut scratch = vec![0.0; count.scratch_len()];
                count.forward(&is_nan, &packed, Scaling::by(1.0), &mut marks, &mut scratch);
                for (y, seen) in y.iter_mut().zip(marks) {
                    if seen > 0.0 {
                        *y = f32::NAN;
                    }
                }
            }
        }
    }
}

/// A factor and the bounds of what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// The factor, a power of two.
    pub factor: f32,
    /// The smallest result.
    pub lo: f32,
    /// The largest result.
    pub hi: f32,
}

impl Scaling {
    /// A factor without bounds.
    pub fn by(factor: f32) -> Self {
        Self {
            factor,
            lo: f32::NEG_INFINITY,
            hi: f32::INFINITY,
        }
    }
}

versions! {
    /// Floats from the 32-bit numbers in their place.
    fn scale_all(scaling: Scaling, y: &mut [f32]) {
        for y in y {
            let value = (y.to_bits() as i32) as f32 * scaling.factor;
            *y = value.max(scaling.lo).min(scaling.hi);
        }
    }

    fn has_nan(x: &[f32]) -> bool {
        x.iter().fold(false, |found, x| found | x.is_nan())
    }
}
