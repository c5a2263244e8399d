//! Rescaling against its definition, fused layers against plain sums.

use super::*;
use crate::int_gemm::LeftOperand;
use crate::isa::testing::on_every_isa;

fn uniform(scale: f32, lo: f32, hi: f32, places: usize) -> Rescale {
    Rescale::new(vec![scale; places], vec![0.0; places], (lo, hi))
}

fn by_place(
    places: usize,
    scale: impl Fn(f32) -> f32,
    offset: impl Fn(f32) -> f32,
    bounds: (f32, f32),
) -> Rescale {
    let values = |f: &dyn Fn(f32) -> f32| (0..places).map(|c| f(c as f32)).collect();
    Rescale::new(values(&scale), values(&offset), bounds)
}

#[test]
fn rounds_to_even_and_saturates() {
    let sums: Vec<i32> = (-3000..3000).collect();
    on_every_isa(|isa| {
        for places in [1, 7, 64] {
            let rescale = uniform(0.0625, -128.0, 127.0, places);
            let mut codes = vec![0_i8; sums.len()];
            rescale_once(&sums, &rescale, &mut codes);
            for (&sum, &code) in sums.iter().zip(&codes) {
                let want = (f64::from(sum) / 16.0)
                    .round_ties_even()
                    .clamp(-128.0, 127.0);
                assert_eq!(f64::from(code), want, "{isa:?} {sum}");
            }
        }
    });
}

#[test]
fn the_second_map_sees_what_the_first_rounded() {
    let sums: Vec<i32> = (-5000..5000).map(|i| i * 3).collect();
    let places = 40;
    let second = by_place(
        places,
        |c| (c - 15.0) / 16.0,
        |c| (7.0 - c) / 32.0,
        (0.0, 255.0),
    );
    let first = uniform(0.0625, -128.0, 127.0, places);
    on_every_isa(|isa| {
        let mut codes = vec![0_u8; sums.len()];
        rescale_twice(&sums, &first, &second, &mut codes);
        for (at, (&sum, &code)) in sums.iter().zip(&codes).enumerate() {
            let between = (f64::from(sum) / 16.0)
                .round_ties_even()
                .clamp(-128.0, 127.0);
            let c = at % places;
            let exact = between * f64::from(second.scale[c]) + f64::from(second.offset[c]);
            assert_eq!(
                f64::from(code),
                exact.round_ties_even().clamp(0.0, 255.0),
                "{isa:?} {sum}"
            );
        }
    });
}

#[test]
fn floats_are_encoded_and_what_is_no_number_is_zero() {
    let x = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        0.5,
        1.5,
        2.5,
        1e-40,
        3e38,
    ];
    on_every_isa(|isa| {
        let mut codes = [7_i16; 9];
        rescale_once(&x, &uniform(1.0, -300.0, 300.0, 1), &mut codes);
        assert_eq!(codes, [0, 300, -300, 0, 0, 2, 2, 0, 300], "{isa:?}");
    });
}

/// A layer of any size and sign, against plain sums and the maps of this file.
fn check_fused<A: LeftByte + LeftOperand, Y: NarrowCode + Default + PartialEq + std::fmt::Debug>(
    [m, k, n]: [usize; 3],
    from: impl Fn(i8) -> A,
    wide: impl Fn(i8) -> i32,
    (lo, hi): (f32, f32),
) {
    use crate::int_gemm::{pack_b, padded_k_i8};
    let bytes = |len: usize, seed: u64| {
        let noise = crate::testing::noise(len, seed).into_iter();
        noise.map(|x| (x * 200.0) as i8).collect::<Vec<i8>>()
    };
    let (a, b) = (bytes(m * k, 1), bytes(k * n, 2));
    let start: Vec<i32> = bytes(n, 3).iter().map(|&x| i32::from(x) * 50).collect();
    let mut packed = vec![0; padded_k_i8(k) * n];
    pack_b(k, n, &b, n, 1, &mut packed);
    let mut padded = vec![from(0); m * padded_k_i8(k)];
    for (row, own) in padded
        .chunks_mut(padded_k_i8(k).max(1))
        .zip(a.chunks(k.max(1)))
    {
        row.iter_mut().zip(own).for_each(|(to, &x)| *to = from(x));
    }
    let sum = |at: usize| {
        start[at % n]
            + (0..k)
                .map(|p| wide(a[at / n * k + p]) * i32::from(b[p * n + at % n]))
                .sum::<i32>()
    };
    let sums: Vec<i32> = (0..m * n).map(sum).collect();
    let last = by_place(n, |c| (c - 9.0) / 64.0, |c| (5.0 - c) / 32.0, (lo, hi));
    let first = uniform(1.0 / 128.0, -128.0, 127.0, n);
    on_every_isa(|isa| {
        for maps in [
            vec![uniform(1.0 / 256.0, lo, hi, n)],
            vec![first.clone(), last.clone()],
        ] {
            let (mut got, mut want) = (vec![Y::default(); m * n], vec![Y::default(); m * n]);
            match maps.as_slice() {
                [one] => rescale_once(&sums, one, &mut want),
                [first, second] => rescale_twice(&sums, first, second, &mut want),
                _ => {}
            }
            if fused_layer(
                &LeftRows::dense(m, k, &padded),
                n,
                &packed,
                &start,
                &maps,
                &mut got,
            ) {
                assert_eq!(got, want, "{isa:?} {m}×{k}×{n}");
            }
        }
    });
}

#[test]
fn fused_layers_of_any_size_are_exact() {
    for m in [1, 2, 3, 7, 13, 25] {
        for k in [1, 4, 18, 64] {
            for n in [1, 5, 16, 17, 32, 40, 64, 70] {
                check_fused::<u8, u8>([m, k, n], |x| x as u8, |x| i32::from(x as u8), (0.0, 127.0));
                check_fused::<u8, i8>(
                    [m, k, n],
                    |x| x as u8,
                    |x| i32::from(x as u8),
                    (-128.0, 100.25),
                );
                check_fused::<i8, u8>([m, k, n], |x| x, i32::from, (3.0, 255.0));
                check_fused::<i8, i8>([m, k, n], |x| x, i32::from, (-5.5, 127.0));
            }
        }
    }
}
