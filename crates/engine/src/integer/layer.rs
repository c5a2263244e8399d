//! Products with weights: linear layers and convolutions, in the narrowest integers that are proven to suffice, with
//! what follows them done in the same pass.
//!
//! Rows of the left operand are taken in blocks that stay in the first-level cache. A block is multiplied with the packed
//! weights, its sums go through the stages, and only the result is written out.

use super::buffer::{Buffer, Code, Storage, with_buffer};
use super::error::Refusal;
use super::ops::matmul_accumulate;
use super::range::CodeRange;
use super::stage::Stage;
use kernels::int_gemm;

/// Sums of a block: 16 KiB of 32-bit ones.
const BLOCK: usize = 4096;

/// Where the rows of the left operand come from.
pub(crate) enum Rows {
    /// The operand's own rows.
    Dense { count: usize },
    /// The windows of a convolution.
    Windows(Windows),
}

/// The windows of a convolution over pictures `[images, channels, height, width]`.
pub(crate) struct Windows {
    pub images: usize,
    pub channels: usize,
    pub groups: usize,
    /// Elements of a channel of the input.
    pub plane: usize,
    /// Elements of a row of the input.
    pub width: usize,
    /// Per window of each axis, the positions of its elements; none in the padding.
    pub rows: Vec<Vec<Option<usize>>>,
    pub columns: Vec<Vec<Option<usize>>>,
}

impl Rows {
    /// Whether zeros stand where the operand has no element.
    pub fn has_padding(&self) -> bool {
        match self {
            Self::Dense { .. } => false,
            Self::Windows(windows) => {
                let mut axes = windows.rows.iter().chain(&windows.columns);
                axes.any(|taps| taps.contains(&None))
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Dense { count } => *count,
            Self::Windows(windows) => windows.images * windows.per_image(),
        }
    }
}

impl Windows {
    fn per_image(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// The elements of window `at` of a group, padding as zeros.
    fn gather<T: Code, U: Code>(&self, x: &[T], group: usize, at: usize, row: &mut [U]) {
        let (image, window) = (at / self.per_image(), at % self.per_image());
        let rows = &self.rows[window / self.columns.len()];
        let columns = &self.columns[window % self.columns.len()];
        let channels = self.channels / self.groups;
        let first = image * self.channels + group * channels;
        let planes = x[first * self.plane..]
            .chunks(self.plane.max(1))
            .take(channels);
        let places = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| (row, column)));
        let elements = planes.flat_map(|plane| {
            places
                .clone()
                .map(move |(row, column)| match (row, column) {
                    (Some(row), Some(column)) => plane[row * self.width + column].widen(),
                    _ => 0,
                })
        });
        for (to, element) in row.iter_mut().zip(elements) {
            *to = U::narrow(element);
        }
    }
}

/// The codes of weights, `[groups][n][k]`, and what every sum starts from, `[groups][n]`.
pub(crate) struct Weights {
    pub groups: usize,
    pub k: usize,
    pub n: usize,
    pub codes: Vec<i64>,
    pub start: Vec<i64>,
}

impl Weights {
    /// What the sums range over for operands in `x`; refused when a partial sum, in whatever order, might not fit.
    pub fn range(&self, x: CodeRange) -> Result<CodeRange, Refusal> {
        let mut all: Option<CodeRange> = None;
        for (weights, &start) in self.columns().zip(&self.start) {
            let mut sum = CodeRange {
                min: start.into(),
                max: start.into(),
                ..x
            };
            let mut worst = sum.magnitude();
            for &weight in weights {
                let ends = [i128::from(weight) * x.min, i128::from(weight) * x.max];
                sum.min += ends[0].min(ends[1]);
                sum.max += ends[0].max(ends[1]);
                worst += ends[0].abs().max(ends[1].abs());
            }
            CodeRange {
                min: -worst,
                max: worst,
                frac: 0,
            }
            .fit()?;
            all = Some(all.map_or(sum, |all| all.joined(sum)));
        }
        Ok(all.unwrap_or(x))
    }

    /// The largest magnitude of any partial sum.
    fn worst_sum(&self, x: CodeRange) -> i128 {
        let column = |(weights, start): (&[i64], &i64)| {
            let weights: i128 = weights.iter().map(|&w| i128::from(w).abs()).sum();
            weights * x.magnitude() + i128::from(*start).abs()
        };
        self.columns()
            .zip(&self.start)
            .map(column)
            .max()
            .unwrap_or(0)
    }

    fn columns(&self) -> impl Iterator<Item = &[i64]> {
        self.codes.chunks(self.k.max(1))
    }

    fn fit<T: TryFrom<i64>>(&self) -> bool {
        self.codes.iter().all(|&code| T::try_from(code).is_ok())
    }

    /// The weights of a group.
    fn group<T: Code>(&self, group: usize) -> Vec<T> {
        let len = self.k * self.n;
        self.codes[group * len..(group + 1) * len]
            .iter()
            .map(|&code| T::narrow(code))
            .collect()
    }

    fn group_start<T: Code>(&self, group: usize) -> Vec<T> {
        self.start[group * self.n..(group + 1) * self.n]
            .iter()
            .map(|&code| T::narrow(code))
            .collect()
    }
}

/// A product, its integers chosen.
pub(crate) struct Layer {
    rows: Rows,
    weights: Weights,
    /// Elements of a channel of the result that follow each other.
    inner: usize,
    groups: Vec<Product>,
    stages: Vec<Vec<Stage>>,
}

/// The packed weights of a group and what its sums start from.
enum Product {
    U8(Vec<i8>, Vec<i32>),
    I8(Vec<i8>, Vec<i32>),
    I16(Vec<i16>, Vec<i32>),
    /// Weights `[k][n]`.
    Wide(Vec<i64>, Vec<i64>),
}

/// Working memory that layers share; it grows to what the largest block needs.
#[derive(Default)]
pub(crate) struct Scratch {
    u8: Vec<u8>,
    i8: Vec<i8>,
    i16: Vec<i16>,
    i64: Vec<i64>,
    sums: Vec<i32>,
    wide: Vec<i64>,
}

impl Layer {
    /// A layer that [`Layer::prepare`] makes ready.
    pub fn new(rows: Rows, weights: Weights, inner: usize) -> Self {
        Self {
            rows,
            weights,
            inner,
            groups: Vec::new(),
            stages: Vec::new(),
        }
    }

    /// Whether the layer can apply a stage to its sums: an affine map must have the layer's own channels.
    pub fn takes(&self, stage: &Stage) -> bool {
        match (stage, &self.rows) {
            (Stage::Affine { scale, inner, .. }, Rows::Windows(_)) => {
                scale.len() == 1
                    || (scale.len() == self.weights.start.len() && *inner == self.inner)
            }
            _ => true,
        }
    }

    /// Packs the weights for operands of this range, and takes the stages that follow.
    pub fn prepare(&mut self, x: CodeRange, stages: &[Stage]) {
        let x = if self.rows.has_padding() {
            x.with_zero()
        } else {
            x
        };
        self.groups = (0..self.weights.groups)
            .map(|group| self.pack(x, group))
            .collect();
        self.stages = (0..self.weights.groups)
            .map(|group| {
                stages
                    .iter()
                    .map(|stage| self.stage_of(stage, group))
                    .collect()
            })
            .collect();
    }

    /// The name of its kernel.
    pub fn kernel(&self) -> &'static str {
        match self.groups.first() {
            Some(Product::U8(..)) => "u8·i8 product",
            Some(Product::I8(..)) => "i8·i8 product",
            Some(Product::I16(..)) => "i16·i16 product",
            _ => "i64 product",
        }
    }

    /// A stage on the sums of a group, which are laid out `[row][column]`.
    fn stage_of(&self, stage: &Stage, group: usize) -> Stage {
        match (stage, &self.rows) {
            (
                Stage::Affine {
                    scale,
                    offset,
                    frac,
                    ..
                },
                Rows::Windows(_),
            ) if scale.len() > 1 => {
                let own = group * self.weights.n..(group + 1) * self.weights.n;
                Stage::Affine {
                    scale: scale[own.clone()].to_vec(),
                    offset: offset[own].to_vec(),
                    inner: 1,
                    frac: *frac,
                }
            }
            _ => stage.clone(),
        }
    }

    fn pack(&self, x: CodeRange, group: usize) -> Product {
        let (weights, k, n) = (&self.weights, self.weights.k, self.weights.n);
        let is_narrow = weights.worst_sum(x) <= i32::MAX.into();
        match Storage::of(x) {
            storage @ (Storage::U8 | Storage::I8) if is_narrow && weights.fit::<i8>() => {
                let mut packed = vec![0; int_gemm::padded_k_i8(k) * n];
                int_gemm::pack_b_i8(k, n, &weights.group(group), 1, k, &mut packed);
                let start = weights.group_start(group);
                if storage == Storage::U8 {
                    Product::U8(packed, start)
                } else {
                    Product::I8(packed, start)
                }
            }
            Storage::U8 | Storage::I8 | Storage::I16 if is_narrow && weights.fit::<i16>() => {
                let mut packed = vec![0; int_gemm::padded_k_i16(k) * n];
                int_gemm::pack_b_i16(k, n, &weights.group(group), 1, k, &mut packed);
                Product::I16(packed, weights.group_start(group))
            }
            _ => {
                let own: Vec<i64> = weights.group(group);
                let turned = (0..k * n).map(|at| own[at % n * k + at / n]).collect();
                Product::Wide(turned, weights.group_start(group))
            }
        }
    }

    /// Computes the layer.
    pub fn run(&self, x: &Buffer, y: &mut Buffer, scratch: &mut Scratch) {
        let step = (BLOCK / self.weights.n.max(1)).clamp(16, 256);
        let count = self.rows.count();
        for first in (0..count).step_by(step) {
            let m = step.min(count - first);
            for group in 0..self.weights.groups {
                self.multiply(x, group, first, m, scratch);
                let start = first * self.weights.n;
                for stage in &self.stages[group] {
                    stage.apply(start, &mut scratch.wide);
                }
                self.store(group, first, &scratch.wide, y);
            }
        }
    }

    /// The sums of `m` rows from `first` on.
    fn multiply(&self, x: &Buffer, group: usize, first: usize, m: usize, scratch: &mut Scratch) {
        let (k, n) = (self.weights.k, self.weights.n);
        let Scratch {
            u8,
            i8,
            i16,
            i64,
            sums,
            wide,
        } = scratch;
        sums.resize(m * n, 0);
        match &self.groups[group] {
            Product::U8(b, start) => {
                let a = self.block(x, group, first, m, int_gemm::padded_k_i8(k), u8);
                int_gemm::gemm_u8i8(m, k, n, a, b, Some(start), sums, n);
            }
            Product::I8(b, start) => {
                let a = self.block(x, group, first, m, int_gemm::padded_k_i8(k), i8);
                int_gemm::gemm_i8i8(m, k, n, a, b, Some(start), sums, n);
            }
            Product::I16(b, start) => {
                let a = self.block(x, group, first, m, int_gemm::padded_k_i16(k), i16);
                int_gemm::gemm_i16i16(m, k, n, a, b, Some(start), sums, n);
            }
            Product::Wide(b, start) => {
                let a = self.block(x, group, first, m, k, i64);
                wide.clear();
                (0..m).for_each(|_| wide.extend_from_slice(start));
                return matmul_accumulate(k, n, a, b, wide);
            }
        }
        wide.clear();
        wide.extend(sums.iter().map(|&sum| i64::from(sum)));
    }

    /// `m` rows of the left operand as `T`, each padded by zeros to `pitch` elements.
    fn block<'a, T: Code>(
        &self,
        x: &Buffer,
        group: usize,
        first: usize,
        m: usize,
        pitch: usize,
        block: &'a mut Vec<T>,
    ) -> &'a [T] {
        block.clear();
        block.resize(m * pitch, T::default());
        let k = self.weights.k;
        with_buffer!(x, x => {
            for (at, row) in block.chunks_mut(pitch.max(1)).enumerate() {
                let (at, row) = (first + at, &mut row[..k]);
                match &self.rows {
                    Rows::Dense { .. } => {
                        for (to, code) in row.iter_mut().zip(&x[at * k..]) {
                            *to = T::narrow(code.widen());
                        }
                    }
                    Rows::Windows(windows) => windows.gather(x, group, at, row),
                }
            }
        });
        block
    }

    /// Writes a block of results.
    fn store(&self, group: usize, first: usize, block: &[i64], y: &mut Buffer) {
        let n = self.weights.n;
        match &self.rows {
            Rows::Dense { .. } => y.store(first * n, block),
            Rows::Windows(windows) => {
                let per_image = windows.per_image();
                for (at, row) in block.chunks(n.max(1)).enumerate() {
                    let (image, place) = ((first + at) / per_image, (first + at) % per_image);
                    let channel = (image * self.weights.groups + group) * n;
                    y.store_strided(channel * per_image + place, per_image, row.iter().copied());
                }
            }
        }
    }
}
