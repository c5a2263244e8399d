//! Products with weights: linear layers and convolutions, with what follows them done in the same pass.
//!
//! Rows of the left operand are taken in blocks that stay in the first-level cache. A block is multiplied with the packed
//! weights, its sums go through the stages, and only the result is written out.

use super::buffer::{Buffer, Code, with_buffer};
use super::product::{Product, run_fused};
use super::range::CodeRange;
use super::rescale::Rescaling;
use super::rows::Rows;
use super::stage::Stage;
use super::weights::Weights;
use std::ops::Range;

/// Sums of a block: 16 KiB of 32-bit ones.
const BLOCK: usize = 4096;

/// A product with weights.
pub(crate) struct Layer {
    rows: Rows,
    weights: Weights,
    /// Elements of a channel of the result that follow each other.
    inner: usize,
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
    u8: Vec<u8>,
    i8: Vec<i8>,
    i16: Vec<i16>,
    i64: Vec<i64>,
    sums: Vec<i32>,
    wide: Vec<i64>,
    codes: Vec<i16>,
}

/// A run of rows, all of one picture.
struct Block {
    image: usize,
    rows: Range<usize>,
}

impl Layer {
    /// A layer that [`Layer::prepare`] makes ready.
    pub fn new(rows: Rows, weights: Weights, inner: usize) -> Self {
        Self {
            rows,
            weights,
            inner,
            groups: Vec::new(),
        }
    }

    /// True when the layer can apply a stage to its sums: one with channels must have the layer's own.
    pub fn accepts(&self, stage: &Stage) -> bool {
        match (&self.rows, stage.channels()) {
            (Rows::Dense { .. }, _) | (_, (1, _)) => true,
            (Rows::Windows(_), own) => own == (self.weights.start.len(), self.inner),
        }
    }

    /// Packs the weights for operands and sums of these ranges, and takes the stages that follow, which end in `result`.
    pub fn prepare(&mut self, [x, sums, result]: [CodeRange; 3], stages: &[Stage]) {
        let x = if self.rows.has_padding() {
            x.with_zero()
        } else {
            x
        };
        let group = |group: usize| {
            let product = Product::pack(&self.weights, group, x);
            let stages: Vec<Stage> = stages
                .iter()
                .map(|stage| self.stage_of(stage, group))
                .collect();
            let is_narrow = product.is_narrow() && result.magnitude() <= i16::MAX.into();
            let rescaling = is_narrow
                .then(|| Rescaling::of(sums, &stages, self.weights.n))
                .flatten();
            let epilogue = rescaling.map_or_else(|| Epilogue::Stages(stages), Epilogue::Rescale);
            Group { product, epilogue }
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
        format!("{}{after}", group.product.name())
    }

    /// A stage on the sums of a group, which are laid out `[row][column]`.
    fn stage_of(&self, stage: &Stage, group: usize) -> Stage {
        match (&self.rows, stage.channels()) {
            (Rows::Dense { .. }, _) | (_, (1, _)) => stage.clone(),
            (Rows::Windows(_), _) => {
                stage.columns(group * self.weights.n..(group + 1) * self.weights.n)
            }
        }
    }

    /// Computes the layer.
    pub fn run(&self, x: &Buffer, y: &mut Buffer, scratch: &mut Scratch) {
        let step = (BLOCK / self.weights.n.max(1)).clamp(16, 256);
        let (images, per_image) = match &self.rows {
            Rows::Dense { count } => (1, *count),
            Rows::Windows(windows) => (windows.images, windows.per_image()),
        };
        for image in 0..images {
            for first in (0..per_image).step_by(step) {
                let rows = first..per_image.min(first + step);
                for group in 0..self.groups.len() {
                    self.run_block(
                        &Block {
                            image,
                            rows: rows.clone(),
                        },
                        group,
                        x,
                        y,
                        scratch,
                    );
                }
            }
        }
    }

    fn run_block(
        &self,
        block: &Block,
        group: usize,
        x: &Buffer,
        y: &mut Buffer,
        scratch: &mut Scratch,
    ) {
        let Group { product, epilogue } = &self.groups[group];
        let n = self.weights.n;
        let (start, len) = (block.rows.start * n, block.rows.len() * n);
        let is_dense = matches!(self.rows, Rows::Dense { .. });
        match (epilogue, &mut *y) {
            (Epilogue::Stages(stages), Buffer::I32(y))
                if stages.is_empty() && is_dense && product.is_narrow() =>
            {
                self.sums(block, group, x, scratch, Some(&mut y[start..start + len]));
            }
            (Epilogue::Rescale(rescaling), y) => {
                if is_dense && self.fused(block, group, x, rescaling, y, scratch) {
                    return;
                }
                self.sums(block, group, x, scratch, None);
                if is_dense {
                    return rescaling.run(&scratch.sums, start, y);
                }
                scratch.codes.resize(len, 0);
                rescaling.apply(&scratch.sums, &mut scratch.codes);
                self.scatter(block, group, &scratch.codes, y);
            }
            (Epilogue::Stages(stages), y) => {
                self.sums(block, group, x, scratch, None);
                if product.is_narrow() {
                    scratch.wide.clear();
                    scratch
                        .wide
                        .extend(scratch.sums.iter().map(|&sum| i64::from(sum)));
                }
                for stage in stages {
                    stage.apply(start, &mut scratch.wide);
                }
                if is_dense {
                    return y.store(start, &scratch.wide);
                }
                self.scatter(block, group, &scratch.wide, y);
            }
        }
    }

    /// A block of bytes from operand to result without a stop; `false` when that is not possible.
    fn fused(
        &self,
        block: &Block,
        group: usize,
        x: &Buffer,
        rescaling: &Rescaling,
        y: &mut Buffer,
        scratch: &mut Scratch,
    ) -> bool {
        let (k, n) = (self.weights.k, self.weights.n);
        let (sizes, first) = ([block.rows.len(), k, n], block.rows.start * n);
        let product = &self.groups[group].product;
        let pitch = product.pitch(k);
        match product {
            Product::U8(b, start) => {
                let a = self.operand(block, group, x, pitch, &mut scratch.u8);
                run_fused(sizes, a, (b, start), rescaling, first, y)
            }
            Product::I8(b, start) => {
                let a = self.operand(block, group, x, pitch, &mut scratch.i8);
                run_fused(sizes, a, (b, start), rescaling, first, y)
            }
            _ => false,
        }
    }

    /// The sums of a block: narrow ones into `target` or the scratch, wide ones into the scratch.
    fn sums(
        &self,
        block: &Block,
        group: usize,
        x: &Buffer,
        scratch: &mut Scratch,
        target: Option<&mut [i32]>,
    ) {
        let (k, n) = (self.weights.k, self.weights.n);
        let product = &self.groups[group].product;
        let Scratch {
            u8,
            i8,
            i16,
            i64,
            sums,
            wide,
            ..
        } = scratch;
        let len = block.rows.len() * n;
        let pitch = product.pitch(k);
        let sums = target.unwrap_or_else(|| {
            sums.resize(len, 0);
            sums
        });
        match product {
            Product::U8(..) => product.run_u8(k, n, self.operand(block, group, x, pitch, u8), sums),
            Product::I8(..) => product.run_i8(k, n, self.operand(block, group, x, pitch, i8), sums),
            Product::I16(..) => {
                product.run_i16(k, n, self.operand(block, group, x, pitch, i16), sums);
            }
            Product::I64(..) => {
                wide.resize(len, 0);
                product.run_i64(k, n, self.operand(block, group, x, pitch, i64), wide);
            }
        }
    }

    /// The rows of a block as `T`, each padded by zeros to `pitch` elements: the value's own where they are that already.
    fn operand<'a, T: Code>(
        &self,
        block: &Block,
        group: usize,
        x: &'a Buffer,
        pitch: usize,
        copy: &'a mut Vec<T>,
    ) -> &'a [T] {
        let k = self.weights.k;
        if let (Rows::Dense { .. }, Some(x)) = (&self.rows, T::codes_of(x))
            && pitch == k
        {
            return &x[block.rows.start * k..block.rows.end * k];
        }
        copy.clear();
        copy.resize(block.rows.len() * pitch, T::default());
        with_buffer!(x, x => {
            for (at, row) in block.rows.clone().zip(copy.chunks_mut(pitch.max(1))) {
                match &self.rows {
                    Rows::Windows(windows) => windows.gather(x, block.image, group, at, &mut row[..k]),
                    Rows::Dense { .. } => {
                        for (to, code) in row[..k].iter_mut().zip(&x[at * k..]) {
                            *to = T::narrow(code.widen());
                        }
                    }
                }
            }
        });
        copy
    }

    /// Writes a block of results to the channels of its picture.
    fn scatter<T: Code>(&self, block: &Block, group: usize, codes: &[T], y: &mut Buffer) {
        let n = self.weights.n;
        let first = (block.image * self.weights.groups + group) * n;
        for column in 0..n {
            let own = codes[column..].iter().step_by(n).map(|code| code.widen());
            let start = (first + column) * self.inner + block.rows.start;
            y.store_all(start, own);
        }
    }
}
