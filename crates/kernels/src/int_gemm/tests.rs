//! Every product against plain `i64` sums.

use super::*;
use crate::isa::testing::on_every_isa;
use crate::testing::noise;
use proptest::prelude::*;

fn bytes(n: usize, seed: u64) -> Vec<i8> {
    noise(n, seed).iter().map(|x| (x * 200.0) as i8).collect()
}

/// `bias + A·B` modulo 2^32.
fn exact(k: usize, a: impl Fn(usize) -> i64, b: impl Fn(usize) -> i64, bias: i32) -> i32 {
    (i64::from(bias) + (0..k).map(|p| a(p) * b(p)).sum::<i64>()) as i32
}

/// Rows of `k` elements, each padded to whole groups of `G`.
fn padded<T: Copy + Default, const G: usize>(k: usize, a: &[T]) -> Vec<T> {
    let rows = a.chunks_exact(k.max(1));
    rows.flat_map(|row| {
        row.iter()
            .copied()
            .chain((k..k.next_multiple_of(G)).map(|_| T::default()))
    })
    .collect()
}

fn check(m: usize, k: usize, n: usize, with_bias: bool) {
    let (a, b) = (bytes(m * k, 1), bytes(k * n, 2));
    let words = |x: &[i8]| {
        x.iter()
            .map(|&x| i16::from(x) * 256 + 77)
            .collect::<Vec<i16>>()
    };
    let (wide_a, wide_b) = (words(&a), words(&b));
    let bias: Vec<i32> = bytes(n, 3).iter().map(|&x| i32::from(x) << 20).collect();
    let unsigned: Vec<u8> = a.iter().map(|&x| x as u8).collect();
    let mut packed = vec![0; padded_k_i8(k) * n];
    pack_b(k, n, &b, n, 1, &mut packed);
    let mut wide_packed = vec![0; padded_k_i16(k) * n];
    pack_b(k, n, &wide_b, n, 1, &mut wide_packed);
    let ldc = n + 2;
    on_every_isa(|isa| {
        let bias = with_bias.then_some(&bias[..]);
        let verify = |c: &[i32],
                      what: &str,
                      a: &dyn Fn(usize, usize) -> i64,
                      b: &dyn Fn(usize, usize) -> i64| {
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / ldc, at % ldc);
                let want = if j < n {
                    exact(k, |p| a(i, p), |p| b(p, j), bias.map_or(0, |b| b[j]))
                } else {
                    7
                };
                assert_eq!(got, want, "{what} {isa:?} {m}×{k}×{n} at {i}, {j}");
            }
        };
        let by = |p: usize, j: usize| i64::from(b[p * n + j]);
        let mut c = vec![7; m * ldc];
        gemm_int::<u8>(
            m,
            k,
            n,
            &padded::<_, 4>(k, &unsigned),
            &packed,
            bias,
            &mut c,
            ldc,
        );
        verify(&c, "u8", &|i, p| i64::from(unsigned[i * k + p]), &by);
        c.fill(7);
        gemm_int::<i8>(m, k, n, &padded::<_, 4>(k, &a), &packed, bias, &mut c, ldc);
        verify(&c, "i8", &|i, p| i64::from(a[i * k + p]), &by);
        c.fill(7);
        gemm_int::<i16>(
            m,
            k,
            n,
            &padded::<_, 2>(k, &wide_a),
            &wide_packed,
            bias,
            &mut c,
            ldc,
        );
        verify(&c, "i16", &|i, p| i64::from(wide_a[i * k + p]), &|p, j| {
            i64::from(wide_b[p * n + j])
        });
        let (a32, b32): (Vec<i32>, Vec<i32>) = (
            a.iter().map(|&x| i32::from(x) << 23).collect(),
            b.iter().map(|&x| i32::from(x) << 23).collect(),
        );
        let mut c = vec![7; m * n];
        gemm_i32(m, k, n, &a32, &b32, &mut c);
        for (at, &got) in c.iter().enumerate() {
            let terms = (0..k).map(|p| {
                i64::from(a32[at / n * k + p]).wrapping_mul(i64::from(b32[p * n + at % n]))
            });
            assert_eq!(
                got,
                terms.fold(0i64, i64::wrapping_add),
                "i32 {isa:?} {m}×{k}×{n}"
            );
        }
    });
}

#[test]
fn edge_sizes_are_exact() {
    for m in [0, 1, 3, 13] {
        for k in [0, 1, 3, 4, 5, 17] {
            for n in [0, 1, 5, 8, 16, 17, 33, 49, 70] {
                check(m, k, n, (m + k + n) % 2 == 0);
            }
        }
    }
    check(256, 64, 32, true);
}

#[test]
fn extremes_do_not_saturate() {
    on_every_isa(|isa| {
        let (k, n) = (64, 3);
        let mut packed = vec![0; k * n];
        pack_b(k, n, &vec![-128; k * n], 1, k, &mut packed);
        let mut c = vec![0; n];
        gemm_int::<u8>(1, k, n, &vec![255; k], &packed, None, &mut c, n);
        assert_eq!(c, [-128 * 255 * 64; 3], "{isa:?}");
        gemm_int::<i8>(1, k, n, &vec![-128; k], &packed, None, &mut c, n);
        assert_eq!(c, [128 * 128 * 64; 3], "{isa:?}");
        let mut wide = vec![0; 2 * n];
        pack_b(2, n, &vec![i16::MIN; 2 * n], 1, 2, &mut wide);
        gemm_int::<i16>(1, 2, n, &[i16::MIN; 2], &wide, None, &mut c, n);
        assert_eq!(c, [i32::MIN; 3], "{isa:?} wraps");
    });
}

/// Rows of runs at places that a fixed rule scatters, also over each other.
fn check_runs<T: LeftOperand + Into<i64>>(elements: &[T], weights: &[T::Right])
where
    T::Right: LeftOperand + Default + Into<i64>,
{
    for [m, n_runs, run, n] in [
        [1, 1, 1, 1],
        [13, 5, 5, 6],
        [29, 3, 12, 17],
        [7, 9, 1, 33],
        [5, 2, 7, 8],
    ] {
        let starts: Vec<usize> = (0..m).map(|i| i * 37 % 101).collect();
        let runs: Vec<usize> = (0..n_runs).map(|r| r * 53 % 97).collect();
        let padded = run.next_multiple_of(T::GROUP) * n;
        let mut packed = vec![T::Right::default(); n_runs * padded];
        for (r, packed) in packed.chunks_exact_mut(padded).enumerate() {
            pack_b(run, n, &weights[r * run * n..], n, 1, packed);
        }
        let places = Places::new([&[9_usize][..], &starts, &[7]].concat());
        let rows = LeftRows {
            elements,
            starts: Starts::At(&places, 1, m),
            runs: &runs,
            run,
        };
        on_every_isa(|isa| {
            let mut c = vec![0; m * n];
            gemm_rows(&rows, n, &packed, None, &mut c, n);
            for (at, &got) in c.iter().enumerate() {
                let (i, j) = (at / n, at % n);
                let a = |p: usize| elements[starts[i] + runs[p / run] + p % run].into();
                let b = |p: usize| weights[p * n + j].into();
                assert_eq!(
                    got,
                    exact(n_runs * run, a, b, 0),
                    "{isa:?} {m} rows of {n_runs}×{run} at {at}"
                );
            }
        });
    }
}

#[test]
fn small_bytes_are_summed_in_words_as_long_as_they_fit() {
    for (max_a, max_b, chunk) in [
        (255, 2, Some(32)),
        (15, 8, Some(136)),
        (15, 128, Some(8)),
        (255, 8, Some(8)),
        (255, 9, None),
        (255, 128, None),
        (0, 128, Some(32_767)),
    ] {
        assert_eq!(narrow_chunk([max_a, max_b]), chunk, "{max_a}, {max_b}");
        if chunk.is_none() {
            continue;
        }
        for (m, k, n) in [
            (1, 1, 1),
            (7, 70, 3),
            (13, 300, 24),
            (6, 2300, 17),
            (5, 64, 40),
        ] {
            let pitch = padded_k_i8(k);
            // Extremes, so that any overflow shows; half of the rows alternate.
            let a: Vec<u8> = (0..m * pitch)
                .map(|at| {
                    if (at / pitch).is_multiple_of(2) || at.is_multiple_of(3) {
                        max_a
                    } else {
                        0
                    }
                })
                .collect();
            let low = (-i32::from(max_b)).max(-128) as i8;
            let high = max_b.min(127) as i8;
            let b: Vec<i8> = (0..k * n)
                .map(|at| if at % n % 2 == 0 { low } else { high })
                .collect();
            let mut packed = vec![0; pitch * n];
            pack_b(k, n, &b, n, 1, &mut packed);
            let bias: Vec<i32> = (0..n as i32).map(|j| j * 1000 - 5).collect();
            let rows = LeftRows::dense(m, k, &a);
            let mut want = vec![0; m * n];
            gemm_rows(&rows, n, &packed, Some(&bias), &mut want, n);
            on_every_isa(|isa| {
                let mut got = vec![0; m * n];
                gemm_rows_narrow(&rows, n, &packed, [max_a, max_b], Some(&bias), &mut got, n);
                assert_eq!(got, want, "{isa:?} {m}×{k}×{n} up to {max_a}, {max_b}");
            });
        }
    }
}

#[test]
fn rows_may_lie_anywhere() {
    let (elements, weights) = (bytes(256, 5), bytes(1024, 6));
    let unsigned: Vec<u8> = elements.iter().map(|&x| x as u8).collect();
    let words = |x: &[i8]| {
        x.iter()
            .map(|&x| i16::from(x) * 250 - 3)
            .collect::<Vec<_>>()
    };
    check_runs(&elements, &weights);
    check_runs(&unsigned, &weights);
    check_runs(&words(&elements), &words(&weights));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_size_is_exact(m in 0usize..40, k in 0usize..70, n in 0usize..90, with_bias: bool) {
        check(m, k, n, with_bias);
    }
}
