//! The register tile under GEMM and convolution: MR rows × NV vectors of accumulators.

use crate::simd::Vector;

/// The initial value of an accumulator, and the treatment of the old value of C.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// The chain of products starts from zero; C is overwritten.
    Zero,
    /// The chain starts from the old C.
    Old,
    /// The chain starts from zero and its end is added to the old C.
    Add,
    /// The chain starts from an element per column.
    PerColumn(*const f32),
    /// The chain starts from an element per row.
    PerRow(*const f32),
}

/// The places of the rows of B.
pub(crate) trait Rows: Copy {
    /// The start of row `p`.
    unsafe fn row(self, p: usize) -> *const f32;
    /// The same rows from column `j` on.
    unsafe fn columns_from(self, j: usize) -> Self;
}

/// Row-major B: rows at a fixed distance.
#[derive(Clone, Copy)]
pub(crate) struct Strided {
    pub(crate) first: *const f32,
    pub(crate) stride: usize,
}

impl Rows for Strided {
    #[inline(always)]
    unsafe fn row(self, p: usize) -> *const f32 {
        // SAFETY: the caller's B has row p.
        unsafe { self.row_at(p) }
    }
    #[inline(always)]
    unsafe fn columns_from(self, j: usize) -> Self {
        // SAFETY: the caller's B has column j.
        Self {
            first: unsafe { self.first.add(j) },
            ..self
        }
    }
}

impl Strided {
    /// The start of row `p`.
    #[inline(always)]
    pub(crate) unsafe fn row_at(self, p: usize) -> *const f32 {
        // SAFETY: the caller's B has row p.
        unsafe { self.first.add(p * self.stride) }
    }
}

/// Rows that start at tabulated offsets of one buffer, as the windows of a convolution do.
#[derive(Clone, Copy)]
pub(crate) struct Offsets {
    pub(crate) base: *const f32,
    pub(crate) table: *const u32,
}

impl Rows for Offsets {
    #[inline(always)]
    unsafe fn row(self, p: usize) -> *const f32 {
        // SAFETY: the caller's table has entry p, and every entry is inside the buffer.
        unsafe { self.base.add(*self.table.add(p) as usize) }
    }
    #[inline(always)]
    unsafe fn columns_from(self, j: usize) -> Self {
        // SAFETY: the caller's buffer has column j after every offset.
        Self {
            base: unsafe { self.base.add(j) },
            ..self
        }
    }
}

/// C = A·B with C row-major, A free and B given by rows.
#[derive(Clone, Copy)]
pub(crate) struct Product<R> {
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) a: *const f32,
    pub(crate) a_row_stride: usize,
    pub(crate) a_col_stride: usize,
    pub(crate) b: R,
    pub(crate) c: *mut f32,
    pub(crate) ldc: usize,
    pub(crate) start: Start,
    /// Elements of C below zero become zero when they are stored.
    pub(crate) relu: bool,
}

impl<R: Rows> Product<R> {
    /// The part from column `j` on, `n` columns wide.
    #[inline(always)]
    pub(crate) unsafe fn columns(mut self, j: usize, n: usize) -> Self {
        // SAFETY: j + n is at most the number of columns.
        unsafe {
            self.b = self.b.columns_from(j);
            self.c = self.c.add(j);
            if let Start::PerColumn(bias) = self.start {
                self.start = Start::PerColumn(bias.add(j));
            }
        }
        self.n = n;
        self
    }

    /// Drops the first rows.
    #[inline(always)]
    pub(crate) unsafe fn skip_rows(&mut self, rows: usize) {
        // SAFETY: the product has that many rows left.
        unsafe {
            self.a = self.a.add(rows * self.a_row_stride);
            self.c = self.c.add(rows * self.ldc);
            if let Start::PerRow(bias) = self.start {
                self.start = Start::PerRow(bias.add(rows));
            }
        }
        self.m -= rows;
    }
}

/// All rows of a product whose columns fit NV vectors, the last perhaps in part: tiles of MR rows, then of 8, 4, 2, 1.
#[inline(always)]
pub(crate) unsafe fn strip<V: Vector, R: Rows, const MR: usize, const NV: usize>(
    mut p: Product<R>,
) {
    // SAFETY: each tile has the rows it says, n is more than NV - 1 vectors and at most NV.
    unsafe {
        let mask = V::mask(p.n - (NV - 1) * V::LANES);
        while p.m >= MR {
            tile::<V, R, MR, NV>(&p, mask);
            p.skip_rows(MR);
        }
        if MR > 8 && p.m >= 8 {
            tile::<V, R, 8, NV>(&p, mask);
            p.skip_rows(8);
        }
        if MR > 4 && p.m >= 4 {
            tile::<V, R, 4, NV>(&p, mask);
            p.skip_rows(4);
        }
        if MR > 2 && p.m >= 2 {
            tile::<V, R, 2, NV>(&p, mask);
            p.skip_rows(2);
        }
        if MR > 1 && p.m >= 1 {
            tile::<V, R, 1, NV>(&p, mask);
        }
    }
}

/// One tile at the top of the product. Every element is one chain of fused multiply-adds in the order of k.
#[inline(always)]
unsafe fn tile<V: Vector, R: Rows, const MR: usize, const NV: usize>(
    p: &Product<R>,
    mask: V::Mask,
) {
    // SAFETY: the product has MR rows, and NV vectors of columns of which the mask selects the last's.
    unsafe {
        let mut acc = begin::<V, R, MR, NV>(p, mask);
        for step in 0..p.k {
            let row = p.b.row(step);
            let mut b = [V::splat(0.0); NV];
            for (j, b) in b.iter_mut().enumerate() {
                *b = load_column::<V, NV>(row, j, mask);
            }
            let a = p.a.add(step * p.a_col_stride);
            for (i, acc) in acc.iter_mut().enumerate() {
                let a = V::splat(*a.add(i * p.a_row_stride));
                for (acc, &b) in acc.iter_mut().zip(&b) {
                    *acc = a.fma(b, *acc);
                }
            }
        }
        for (i, acc) in acc.iter().enumerate() {
            let c = p.c.add(i * p.ldc);
            for (j, &acc) in acc.iter().enumerate() {
                let sum = match p.start {
                    Start::Add => acc.add(load_column::<V, NV>(c, j, mask)),
                    _ => acc,
                };
                let value = if p.relu { sum.relu() } else { sum };
                if j + 1 == NV {
                    value.store_masked(c.add(j * V::LANES), mask);
                } else {
                    value.store(c.add(j * V::LANES));
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn begin<V: Vector, R: Rows, const MR: usize, const NV: usize>(
    p: &Product<R>,
    mask: V::Mask,
) -> [[V; NV]; MR] {
    // SAFETY: as in the tile.
    unsafe {
        let mut acc = [[V::splat(0.0); NV]; MR];
        for (i, row) in acc.iter_mut().enumerate() {
            for (j, acc) in row.iter_mut().enumerate() {
                *acc = match p.start {
                    Start::Zero | Start::Add => *acc,
                    Start::Old => load_column::<V, NV>(p.c.add(i * p.ldc), j, mask),
                    Start::PerColumn(bias) => load_column::<V, NV>(bias, j, mask),
                    Start::PerRow(bias) => V::splat(*bias.add(i)),
                };
            }
        }
        acc
    }
}

#[inline(always)]
unsafe fn load_column<V: Vector, const NV: usize>(row: *const f32, j: usize, mask: V::Mask) -> V {
    // SAFETY: as in the tile.
    unsafe {
        let at = row.add(j * V::LANES);
        if j + 1 == NV {
            V::load_masked(at, mask)
        } else {
            V::load(at)
        }
    }
}
