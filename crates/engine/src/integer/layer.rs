//! Products with weights: linear layers and convolutions, with what follows them done in the same pass.
//!
//! Rows of the left operand are taken in blocks that stay in the first-level cache. A block is multiplied with the packed
//! weights, its sums go through the stages, and only the result is written out.

use super::buffer::{Buffer, Code, with_buffer};
use super::product::{Block, Copies, Kind, Left, Product, Sums, small};
use super::program::Rows;
use super::range::CodeRange;
use super::rescale::Rescaling;
use super::rows::RowSource;
use super::stage::Stage;
use super::weights::Weights;
use kernels::int_conv::Windows;
use kernels::int_gemm::{LeftRows, Starts};

/// Sums of a block: 16 KiB of 32-bit ones.
const BLOCK: usize = 4096;

/// A product with weights.
pub(crate) struct Layer {
    rows: RowSource,
    weights: Weights,
    /// The narrowest integers that suffice.
    kind: Kind,
    groups: Vec<Group>,
}

struct Group {
    product: Product,
    epilogue: Epilogue,
}

/// The treatment of sums.
enum Epilogue {
    /// Exact in floats.
    Rescale(Rescaling),
    /// In 64 bits, one stage after the other.
    Stages(Vec<Stage>),
}

/// Working memory that layers share; it grows to what the largest block needs.
#[derive(Default)]
pub(crate) struct Scratch {
    copies: Copies,
    sums: Sums,
    codes: Vec<i16>,
}

impl Layer {
    /// A layer that [`Layer::prepare`] makes ready.
    pub fn new(rows: &Rows, weights: Weights) -> Self {
        Self {
            rows: rows.into(),
            weights,
            kind: Kind::I64,
            groups: Vec::new(),
        }
    }

    /// True when the layer can apply a stage to its sums: one with channels must have the layer's own.
    pub fn accepts(&self, stage: &Stage) -> bool {
        match (&self.rows, stage.channels()) {
            (RowSource::Dense { .. }, _) | (_, (1, _)) => true,
            (RowSource::Windows(_), own) => own == (self.weights.start.len(), 1),
        }
    }

    /// Packs the weights for operands and sums of these ranges, and takes the stages that follow, which end in `result`.
    pub fn prepare(&mut self, [x, sums, result]: [CodeRange; 3], stages: &[Stage]) {
        let x = if self.rows.has_padding() {
            x.with_zero()
        } else {
            x
        };
        self.kind = Kind::of(&self.weights, x);
        let is_narrow = self.kind != Kind::I64 && result.magnitude() <= i16::MAX.into();
        let small = small(&self.weights, x);
        let group = |group: usize| {
            let matrix = self.rows.matrix(&self.weights, group);
            let stages: Vec<Stage> = stages
                .iter()
                .map(|stage| self.stage_of(stage, group))
                .collect();
            let rescaling = is_narrow
                .then(|| Rescaling::of(sums, &stages, self.weights.n))
                .flatten();
            Group {
                product: Product::pack(matrix, self.kind, small),
                epilogue: rescaling.map_or_else(|| Epilogue::Stages(stages), Epilogue::Rescale),
            }
        };
        self.groups = (0..self.weights.groups).map(group).collect();
    }

    /// The name of its kernel.
    pub fn kernel(&self) -> String {
        let Some(group) = self.groups.first() else {
            return String::new();
        };
        let after = match &group.epilogue {
            Epilogue::Rescale(_) => ", rescaled in f32",
            Epilogue::Stages(stages) if stages.is_empty() => "",
            Epilogue::Stages(_) => ", stages in i64",
        };
        format!("{}{after}", self.kind.name())
    }

    /// A stage on the sums of a group, which are laid out `[row][column]`.
    fn stage_of(&self, stage: &Stage, group: usize) -> Stage {
        match (&self.rows, stage.channels()) {
            (RowSource::Dense { .. }, _) | (_, (1, _)) => stage.clone(),
            (RowSource::Windows(_), _) => {
                stage.columns(group * self.weights.n..(group + 1) * self.weights.n)
            }
        }
    }

    /// Computes the layer.
    pub fn run(&self, x: &Buffer, y: &mut Buffer, scratch: &mut Scratch) {
        match self.groups.first().map(|group| &group.product) {
            Some(Product::U8(..) | Product::Narrow(..)) => self.run_as::<u8>(x, y, scratch),
            Some(Product::I8(..)) => self.run_as::<i8>(x, y, scratch),
            Some(Product::I16(..)) => self.run_as::<i16>(x, y, scratch),
            Some(Product::I64(..)) => self.run_as::<i64>(x, y, scratch),
            None => {}
        }
    }

    /// The same from operands of a type.
    fn run_as<T: Left>(&self, x: &Buffer, y: &mut Buffer, scratch: &mut Scratch) {
        let mut copy = std::mem::take(T::memory(&mut scratch.copies));
        match &self.rows {
            RowSource::Dense { count } => self.run_dense::<T>(*count, x, y, &mut copy, scratch),
            RowSource::Windows(windows) => self.run_windows::<T>(windows, x, y, &mut copy, scratch),
        }
        *T::memory(&mut scratch.copies) = copy;
    }

    fn run_dense<T: Left>(
        &self,
        count: usize,
        x: &Buffer,
        y: &mut Buffer,
        copy: &mut Vec<T>,
        scratch: &mut Scratch,
    ) {
        let (k, n) = (self.weights.k, self.weights.n);
        let pitch = k.next_multiple_of(T::GROUP);
        let step = block_rows(n);
        for first in (0..count).step_by(step) {
            let rows = step.min(count - first);
            let elements = if let Some(x) = T::codes_of(x).filter(|_| pitch == k) {
                &x[first * k..]
            } else {
                copy.clear();
                copy.resize(rows * pitch, T::default());
                with_buffer!(x, x => {
                    let own = x[first * k..].chunks_exact(k.max(1));
                    for (to, from) in copy.chunks_exact_mut(pitch.max(1)).zip(own) {
                        widen(from, &mut to[..k]);
                    }
                });
                &copy[..]
            };
            let left = LeftRows {
                elements,
                starts: Starts::Every(rows, pitch),
                runs: &[0],
                run: k,
            };
            self.run_block(0, &left, n, first * n, y, scratch);
        }
    }

    fn run_windows<T: Left>(
        &self,
        windows: &Windows,
        x: &Buffer,
        y: &mut Buffer,
        copy: &mut Vec<T>,
        scratch: &mut Scratch,
    ) {
        let columns = windows.columns();
        let step = block_rows(columns);
        copy.resize(windows.band_len().max(copy.len()), T::default());
        for (image, rows) in windows.bands() {
            with_buffer!(x, x => windows.fill(x, image, &rows, (copy, T::default()), widen));
            for group in 0..self.groups.len() {
                let mut first = 0;
                while let Some(left) = windows.rows(copy, &rows, group, [first, step]) {
                    let start = windows.result_start(image, &rows, first);
                    first += left.starts.len();
                    self.run_block(group, &left, columns, start, y, scratch);
                }
            }
        }
    }

    /// Computes a block of rows, whose results begin at element `start`.
    fn run_block<T: Left>(
        &self,
        group: usize,
        rows: &LeftRows<T>,
        columns: usize,
        start: usize,
        y: &mut Buffer,
        scratch: &mut Scratch,
    ) {
        let Group { product, epilogue } = &self.groups[group];
        let Scratch { sums, codes, .. } = scratch;
        let block = Block {
            product,
            rows,
            n: columns,
        };
        let is_whole = self.groups.len() == 1;
        match (epilogue, &mut *y) {
            (Epilogue::Stages(stages), Buffer::I32(y))
                if stages.is_empty() && is_whole && self.kind != Kind::I64 =>
            {
                T::sums(&block, sums, Some(&mut y[start..start + block.len()]));
            }
            (Epilogue::Rescale(rescaling), y) if is_whole => {
                if !T::fused(&block, rescaling, start, y) {
                    T::sums(&block, sums, None);
                    rescaling.run(&sums.narrow, start, y);
                }
            }
            (Epilogue::Rescale(rescaling), y) => {
                T::sums(&block, sums, None);
                codes.resize(block.len(), 0);
                rescaling.apply(&sums.narrow, codes);
                self.scatter(group, codes, start, y);
            }
            (Epilogue::Stages(stages), y) => {
                T::sums(&block, sums, None);
                if self.kind != Kind::I64 {
                    sums.wide.clear();
                    sums.wide
                        .extend(sums.narrow.iter().map(|&sum| i64::from(sum)));
                }
                for stage in stages {
                    stage.apply(if is_whole { start } else { 0 }, &mut sums.wide);
                }
                if is_whole {
                    return y.store(start, &sums.wide);
                }
                self.scatter(group, &sums.wide, start, y);
            }
        }
    }

    /// Writes the channels of a group to their places in every pixel.
    fn scatter<T: Code>(&self, group: usize, codes: &[T], start: usize, y: &mut Buffer) {
        let (n, all) = (self.weights.n, self.weights.start.len());
        for (pixel, own) in codes.chunks_exact(n.max(1)).enumerate() {
            let own = own.iter().map(|code| code.widen());
            y.store_all(start + pixel * all + group * n, own);
        }
    }
}

/// Rows of a block with this many columns.
fn block_rows(columns: usize) -> usize {
    (BLOCK / columns.max(1)).clamp(16, 256)
}

/// The same codes in another type.
fn widen<T: Code, U: Code>(from: &[T], to: &mut [U]) {
    for (to, code) in to.iter_mut().zip(from) {
        *to = U::narrow(code.widen());
    }
}
