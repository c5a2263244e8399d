//! Matrix transpose.

use crate::isa::versions;

/// Side of the square blocks that are turned in cache.
const BLOCK: usize = 16;

/// `y[c·ldy + r] = x[r·ldx + c]` for `rows` × `cols` elements of `x`.
///
/// # Panics
/// When a slice is too short for its sizes and stride: an error of the caller.
pub fn transpose(rows: usize, cols: usize, x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
    if rows == 0 || cols == 0 {
        return;
    }
    let (x_len, y_len) = ((rows - 1) * ldx + cols, (cols - 1) * ldy + rows);
    assert!(
        x.len() >= x_len,
        "transpose: x has {} elements, {rows} rows, ldx = {ldx} need {x_len}",
        x.len()
    );
    assert!(
        y.len() >= y_len,
        "transpose: y has {} elements, {cols} rows, ldy = {ldy} need {y_len}",
        y.len()
    );
    blocks(rows, cols, x, ldx, y, ldy);
}

versions! {
    fn blocks(rows: usize, cols: usize, x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
        for r in (0..rows).step_by(BLOCK) {
            for c in (0..cols).step_by(BLOCK) {
                let (x, y) = (&x[r * ldx + c..], &mut y[c * ldy + r..]);
                if r + BLOCK <= rows && c + BLOCK <= cols {
                    whole_block(x, ldx, y, ldy);
                } else {
                    part_block(BLOCK.min(rows - r), BLOCK.min(cols - c), x, ldx, y, ldy);
                }
            }
        }
    }
}

/// A full block through a local array: contiguous loads, four rounds of interleaving, contiguous stores.
#[inline(always)]
fn whole_block(x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
    let mut block = [[0.0f32; BLOCK]; BLOCK];
    for (r, row) in block.iter_mut().enumerate() {
        row.copy_from_slice(&x[r * ldx..][..BLOCK]);
    }
    for _ in 0..BLOCK.ilog2() {
        block = interleave_halves(&block);
    }
    for (c, row) in block.iter().enumerate() {
        y[c * ldy..][..BLOCK].copy_from_slice(row);
    }
}

/// Row 2i and 2i + 1 of the result are the interleaving of rows i and i + 8. Four rounds transpose 16 × 16: each rotates
/// the bits of the flat index by one.
#[inline(always)]
fn interleave_halves(block: &[[f32; BLOCK]; BLOCK]) -> [[f32; BLOCK]; BLOCK] {
    let mut out = [[0.0; BLOCK]; BLOCK];
    for i in 0..BLOCK / 2 {
        for j in 0..BLOCK / 2 {
            out[2 * i][2 * j] = block[i][j];
            out[2 * i][2 * j + 1] = block[i + BLOCK / 2][j];
            out[2 * i + 1][2 * j] = block[i][j + BLOCK / 2];
            out[2 * i + 1][2 * j + 1] = block[i + BLOCK / 2][j + BLOCK / 2];
        }
    }
    out
}

#[inline(always)]
fn part_block(rows: usize, cols: usize, x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
    for c in 0..cols {
        let out = &mut y[c * ldy..][..rows];
        for (r, out) in out.iter_mut().enumerate() {
            *out = x[r * ldx + c];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;

    #[test]
    fn every_element_moves_and_nothing_else() {
        on_every_isa(|isa| {
            for rows in [0, 1, 3, 15, 16, 17, 33, 64] {
                for cols in [0, 1, 5, 16, 31, 48] {
                    for pad in [0, 3] {
                        let (ldx, ldy) = (cols + pad, rows + pad);
                        let x = noise(rows * ldx, 1);
                        let old = noise(cols * ldy, 2);
                        let mut y = old.clone();
                        transpose(rows, cols, &x, ldx, &mut y, ldy);
                        for (at, &got) in y.iter().enumerate() {
                            let (c, r) = (at / ldy.max(1), at % ldy.max(1));
                            let want = if r < rows { x[r * ldx + c] } else { old[at] };
                            assert_eq!(got, want, "{isa:?} {rows}×{cols} at {r}, {c}");
                        }
                    }
                }
            }
        });
    }
}
