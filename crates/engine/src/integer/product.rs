//! A matrix product in the narrowest integers that are proven to suffice, with packed weights.

use super::buffer::{Buffer, Code, Storage};
use super::range::CodeRange;
use super::rescale::Rescaling;
use super::rows::{Matrix, spell_out};
use super::weights::Weights;
use super::wide::accumulate;
use kernels::int_gemm::{
    LeftOperand, LeftRows, gemm_rows, gemm_rows_narrow, has_byte_products, narrow_chunk, pack_b,
};
use kernels::requantize::{LeftByte, fused_layer};

/// The packed weights of a group and the initial values of its sums. The name is the type of the left operand's elements.
pub(crate) enum Product {
    U8(Vec<i8>, Vec<i32>),
    /// Unsigned bytes so small that words hold sums of their products, with the largest of them and of the weights.
    Narrow(Vec<i8>, Vec<i32>, [u8; 2]),
    I8(Vec<i8>, Vec<i32>),
    I16(Vec<i16>, Vec<i32>),
    I64(Vec<i64>, Vec<i64>),
}

/// The integers of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    U8,
    I8,
    I16,
    I64,
}

impl Kind {
    /// The narrowest integers for left operands of this range.
    pub fn of(weights: &Weights, x: CodeRange) -> Self {
        if weights.worst_sum(x) > i32::MAX.into() {
            return Self::I64;
        }
        match Storage::of(x) {
            Storage::U8 if weights.fit::<i8>() => Self::U8,
            Storage::I8 if weights.fit::<i8>() => Self::I8,
            Storage::U8 | Storage::I8 | Storage::I16 if weights.fit::<i16>() => Self::I16,
            _ => Self::I64,
        }
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8·i8 product",
            Self::I8 => "i8·i8 product",
            Self::I16 => "i16·i16 product",
            Self::I64 => "i64 product",
        }
    }
}

impl Product {
    /// Packs the weights of a group in integers that the machine is fast with: words where it has no products of bytes, unless
    /// bytes are `small` in all groups.
    pub fn pack(matrix: Matrix, kind: Kind, small: Option<[u8; 2]>) -> Self {
        let start = |matrix: &Matrix| narrow(&matrix.start);
        match kind {
            Kind::U8 if has_byte_products() => Self::U8(packed(&matrix), start(&matrix)),
            Kind::I8 if has_byte_products() => Self::I8(packed(&matrix), start(&matrix)),
            Kind::U8 => match small {
                Some(largest) => Self::Narrow(packed(&matrix), start(&matrix), largest),
                None => Self::I16(packed(&matrix), start(&matrix)),
            },
            Kind::I8 | Kind::I16 => Self::I16(packed(&matrix), start(&matrix)),
            Kind::I64 => Self::I64(matrix.codes, matrix.start),
        }
    }
}

/// The largest left operand and weight, if words hold sums of their products.
pub(crate) fn small(weights: &Weights, x: CodeRange) -> Option<[u8; 2]> {
    let max_weight = weights.codes.iter().map(|code| code.unsigned_abs()).max();
    let largest = [
        u8::try_from(x.max).ok()?,
        u8::try_from(max_weight.unwrap_or(0)).ok()?,
    ];
    narrow_chunk(largest).map(|_| largest)
}

fn narrow<T: Code>(codes: &[i64]) -> Vec<T> {
    codes.iter().map(|&code| T::narrow(code)).collect()
}

fn packed<T: Code + LeftOperand>(matrix: &Matrix) -> Vec<T> {
    let (run, n) = (matrix.run, matrix.columns);
    let padded = run.next_multiple_of(T::GROUP) * n;
    let mut packed = vec![T::default(); matrix.runs * padded];
    if n * run > 0 {
        let runs = matrix.codes.chunks_exact(run * n);
        for (from, to) in runs.zip(packed.chunks_exact_mut(padded)) {
            pack_b(run, n, &narrow::<T>(from), n, 1, to);
        }
    }
    packed
}

/// Sums of a block, in one of two widths.
#[derive(Default)]
pub(crate) struct Sums {
    pub narrow: Vec<i32>,
    pub wide: Vec<i64>,
}

impl Sums {
    /// Room for so many narrow sums: the target if there is one.
    fn narrow<'a>(&'a mut self, len: usize, target: Option<&'a mut [i32]>) -> &'a mut [i32] {
        target.unwrap_or_else(|| {
            self.narrow.resize(len, 0);
            &mut self.narrow
        })
    }
}

/// A block of rows to multiply with the `n` columns of a product.
pub(crate) struct Block<'a, T> {
    pub product: &'a Product,
    pub rows: &'a LeftRows<'a, T>,
    pub n: usize,
}

impl<T> Block<'_, T> {
    /// Elements of the result.
    pub fn len(&self) -> usize {
        self.rows.starts.len() * self.n
    }
}

/// An element of a left operand.
pub(crate) trait Left: Code {
    /// Elements that are read at once.
    const GROUP: usize;

    /// Its own among the memory for copies of operands.
    fn memory(copies: &mut Copies) -> &mut Vec<Self>;

    /// The sums of a block: of 32 bits into `target` if there is one.
    fn sums(block: &Block<Self>, sums: &mut Sums, target: Option<&mut [i32]>);

    /// Multiplies a block, maps the sums and writes codes from `first` on, all in registers; `false` where that is not possible
    /// and nothing was done.
    fn fused(_: &Block<Self>, _rescaling: &Rescaling, _first: usize, _y: &mut Buffer) -> bool {
        false
    }
}

/// Memory for copies of operands, one of each type.
#[derive(Default)]
pub(crate) struct Copies {
    u8: Vec<u8>,
    i8: Vec<i8>,
    i16: Vec<i16>,
    i64: Vec<i64>,
}

fn narrow_sums<T: LeftOperand>(
    block: &Block<T>,
    (b, start): (&[T::Right], &[i32]),
    sums: &mut Sums,
    target: Option<&mut [i32]>,
) {
    let sums = sums.narrow(block.len(), target);
    gemm_rows(block.rows, block.n, b, Some(start), sums, block.n);
}

fn run_fused<A: LeftByte>(
    block: &Block<A>,
    (b, start): (&[i8], &[i32]),
    rescaling: &Rescaling,
    first: usize,
    y: &mut Buffer,
) -> bool {
    let (rows, n, own) = (block.rows, block.n, first..first + block.len());
    match y {
        Buffer::U8(y) => fused_layer(rows, n, b, start, rescaling.maps(), &mut y[own]),
        Buffer::I8(y) => fused_layer(rows, n, b, start, rescaling.maps(), &mut y[own]),
        Buffer::I16(_) | Buffer::I32(_) | Buffer::I64(_) => false,
    }
}

impl Left for u8 {
    const GROUP: usize = <Self as LeftOperand>::GROUP;

    fn memory(copies: &mut Copies) -> &mut Vec<Self> {
        &mut copies.u8
    }

    fn sums(block: &Block<Self>, sums: &mut Sums, target: Option<&mut [i32]>) {
        match block.product {
            Product::U8(b, start) => narrow_sums(block, (b, start), sums, target),
            Product::Narrow(b, start, largest) => {
                let (sums, n) = (sums.narrow(block.len(), target), block.n);
                gemm_rows_narrow(block.rows, n, b, *largest, Some(start), sums, n);
            }
            _ => {}
        }
    }

    fn fused(block: &Block<Self>, rescaling: &Rescaling, first: usize, y: &mut Buffer) -> bool {
        match block.product {
            Product::U8(b, start) => run_fused(block, (b, start), rescaling, first, y),
            _ => false,
        }
    }
}

impl Left for i8 {
    const GROUP: usize = <Self as LeftOperand>::GROUP;

    fn memory(copies: &mut Copies) -> &mut Vec<Self> {
        &mut copies.i8
    }

    fn sums(block: &Block<Self>, sums: &mut Sums, target: Option<&mut [i32]>) {
        if let Product::I8(b, start) = block.product {
            narrow_sums(block, (b, start), sums, target);
        }
    }

    fn fused(block: &Block<Self>, rescaling: &Rescaling, first: usize, y: &mut Buffer) -> bool {
        match block.product {
            Product::I8(b, start) => run_fused(block, (b, start), rescaling, first, y),
            _ => false,
        }
    }
}

impl Left for i16 {
    const GROUP: usize = <Self as LeftOperand>::GROUP;

    fn memory(copies: &mut Copies) -> &mut Vec<Self> {
        &mut copies.i16
    }

    fn sums(block: &Block<Self>, sums: &mut Sums, target: Option<&mut [i32]>) {
        if let Product::I16(b, start) = block.product {
            narrow_sums(block, (b, start), sums, target);
        }
    }
}

impl Left for i64 {
    const GROUP: usize = 1;

    fn memory(copies: &mut Copies) -> &mut Vec<Self> {
        &mut copies.i64
    }

    fn sums(block: &Block<Self>, sums: &mut Sums, _target: Option<&mut [i32]>) {
        if let Product::I64(b, start) = block.product {
            let rows = block.rows;
            let mut all = Vec::new();
            spell_out(rows, &mut all);
            sums.wide.clear();
            (0..rows.starts.len()).for_each(|_| sums.wide.extend(start));
            let depth = rows.runs.len() * rows.run;
            accumulate(depth, block.n, &all, b, &mut sums.wide);
        }
    }
}
