//! The base version: one group at a time.

use super::left::{GROUP, group};
use super::{I16_I16, IntProduct, NARROW, U8_I8};

pub(super) unsafe fn run<const KIND: u8>(p: IntProduct) {
    // SAFETY: the caller checked that A, B and C have the groups and elements used here.
    unsafe {
        for i in 0..p.m {
            let c = std::slice::from_raw_parts_mut(p.c.add(i * p.ldc), p.n);
            if p.bias.is_null() {
                c.fill(0);
            } else {
                c.copy_from_slice(std::slice::from_raw_parts(p.bias, p.n));
            }
            let [row] = p.a.rows::<1>(i);
            let mut b = p.b;
            for run in 0..p.a.n_runs {
                let first = p.a.run(run);
                for at in (first..).step_by(GROUP).take(p.a.groups) {
                    let a = group(row, at).to_ne_bytes();
                    for (j, c) in c.iter_mut().enumerate() {
                        let b = b.add(j).cast::<[u8; GROUP]>().read_unaligned();
                        *c = c.wrapping_add(dot::<KIND>(a, b));
                    }
                    b = b.add(p.n);
                }
            }
        }
    }
}

/// The dot product of two groups.
#[inline(always)]
fn dot<const KIND: u8>(a: [u8; GROUP], b: [u8; GROUP]) -> i32 {
    if KIND == I16_I16 {
        let word =
            |x: [u8; GROUP], i: usize| i32::from(i16::from_ne_bytes([x[2 * i], x[2 * i + 1]]));
        return (word(a, 0) * word(b, 0)).wrapping_add(word(a, 1) * word(b, 1));
    }
    let left = |x: u8| {
        if KIND == U8_I8 || KIND == NARROW {
            i32::from(x)
        } else {
            i32::from(x as i8)
        }
    };
    a.into_iter()
        .zip(b)
        .map(|(a, b)| left(a) * i32::from(b as i8))
        .sum()
}
