//! Functions of elements, and sizes of a batch that is not known.

use super::*;

#[test]
fn functions_of_one_float_are_those_of_numpy() {
    use Unary::{
        Abs, Ceil, Cos, Exp, Floor, Log, Neg, Reciprocal, Round, Sigmoid, Sign, Sin, Sqrt, Tanh,
    };
    let cases: &[(Unary, &[(f32, f32)])] = &[
        (Neg, &[(1.5, -1.5), (-2.0, 2.0)]),
        (Abs, &[(-1.5, 1.5), (2.0, 2.0)]),
        (Sqrt, &[(4.0, 2.0), (0.25, 0.5)]),
        (Reciprocal, &[(4.0, 0.25), (-0.5, -2.0)]),
        (Exp, &[(0.0, 1.0), (1.0, 2.718_281_7)]),
        (Log, &[(1.0, 0.0), (3.0, 1.098_612_3)]),
        (Sin, &[(0.0, 0.0), (1.0, 0.841_471)]),
        (Cos, &[(0.0, 1.0), (1.0, 0.540_302_3)]),
        (Floor, &[(-1.5, -2.0), (1.5, 1.0)]),
        (Ceil, &[(-1.5, -1.0), (1.5, 2.0)]),
        (Round, &[(2.5, 2.0), (-1.5, -2.0), (0.6, 1.0)]),
        (Sign, &[(-3.0, -1.0), (0.0, 0.0), (-0.0, 0.0), (0.1, 1.0)]),
        (Tanh, &[(0.0, 0.0), (1.0, 0.761_594_2)]),
        (Sigmoid, &[(0.0, 0.5), (2.0, 0.880_797), (-2.0, 0.119_203)]),
    ];
    for (function, pairs) in cases {
        for &(x, expected) in *pairs {
            let found = unary(*function, &floats(&[1], &[x])).unwrap();
            let found = found.floats().unwrap()[0];
            assert!(
                (found - expected).abs() < 1e-6,
                "{function:?} of {x}: {found}"
            );
        }
    }
}

#[test]
fn functions_of_one_integer_or_truth_value_do_not_overflow() {
    let of = |function, values: &[i64]| unary(function, &ints(&[values.len()], values));
    let cases: &[(Unary, &[i64])] = &[
        (Unary::Neg, &[3, -4, 0]),
        (Unary::Abs, &[3, 4, 0]),
        (Unary::Sign, &[-1, 1, 0]),
        (Unary::Floor, &[-3, 4, 0]),
        (Unary::Ceil, &[-3, 4, 0]),
        (Unary::Round, &[-3, 4, 0]),
    ];
    for (function, expected) in cases {
        assert_eq!(
            of(*function, &[-3, 4, 0]),
            Ok(ints(&[3], expected)),
            "{function:?}"
        );
    }
    assert_eq!(said(of(Unary::Neg, &[i64::MIN])), "Neg overflows");
    assert_eq!(said(of(Unary::Abs, &[1, i64::MIN])), "Abs overflows");
    assert_eq!(said(of(Unary::Sqrt, &[4])), "Sqrt of i64 is not evaluated");
    let not = unary(Unary::Not, &truths(&[true, false]));
    assert_eq!(not, Ok(truths(&[false, true])));
    assert_eq!(
        said(unary(Unary::Neg, &truths(&[true]))),
        "Neg of bool is not evaluated"
    );
    assert_eq!(
        said(unary(Unary::Not, &floats(&[1], &[1.0]))),
        "Not of f32 is not evaluated"
    );
}

#[test]
fn functions_of_two_floats_or_truth_values() {
    let (a, b) = (
        floats(&[4], &[-7.0, 2.0, 3.0, 0.5]),
        floats(&[4], &[2.0, 2.0, -2.0, 4.0]),
    );
    let cases: &[(Binary, &[f32])] = &[
        (Binary::Add, &[-5.0, 4.0, 1.0, 4.5]),
        (Binary::Sub, &[-9.0, 0.0, 5.0, -3.5]),
        (Binary::Mul, &[-14.0, 4.0, -6.0, 2.0]),
        (Binary::Div, &[-3.5, 1.0, -1.5, 0.125]),
        (Binary::Pow, &[49.0, 4.0, 1.0 / 9.0, 0.0625]),
        (Binary::Max, &[2.0, 2.0, 3.0, 4.0]),
        (Binary::Min, &[-7.0, 2.0, -2.0, 0.5]),
        (Binary::Remainder, &[-1.0, 0.0, 1.0, 0.5]),
    ];
    for (function, expected) in cases {
        assert_eq!(
            binary(*function, &a, &b),
            Ok(floats(&[4], expected)),
            "{function:?}"
        );
    }
    assert_eq!(
        said(binary(Binary::And, &a, &b)),
        "And of floats is not evaluated"
    );
    assert_eq!(
        said(binary(Binary::Mod, &a, &b)),
        "Mod of floats is not evaluated"
    );
    assert_eq!(
        said(binary(Binary::Add, &a, &ints(&[4], &[0; 4]))),
        "Add of f32 and i64 is not evaluated"
    );
    let comparisons: &[(Binary, [bool; 4])] = &[
        (Binary::Eq, [false, true, false, false]),
        (Binary::Lt, [true, false, false, true]),
        (Binary::Le, [true, true, false, true]),
        (Binary::Gt, [false, false, true, false]),
        (Binary::Ge, [false, true, true, false]),
    ];
    let whole = |array: &Array| cast(array, DType::I64).unwrap();
    for (function, expected) in comparisons {
        assert_eq!(
            binary(*function, &a, &b),
            Ok(truths(expected)),
            "{function:?}"
        );
        let of_integers = binary(*function, &whole(&a), &whole(&b));
        assert_eq!(of_integers, Ok(truths(expected)), "{function:?}");
    }
    let (a, b) = (
        truths(&[false, false, true, true]),
        truths(&[false, true, false, true]),
    );
    let logic: &[(Binary, [bool; 4])] = &[
        (Binary::And, [false, false, false, true]),
        (Binary::Or, [false, true, true, true]),
        (Binary::Xor, [false, true, true, false]),
        (Binary::Eq, [true, false, false, true]),
    ];
    for (function, expected) in logic {
        assert_eq!(
            binary(*function, &a, &b),
            Ok(truths(expected)),
            "{function:?}"
        );
    }
    assert_eq!(
        said(binary(Binary::Add, &a, &b)),
        "Add of truth values is not evaluated"
    );
}

/// Python's `%` has the sign of the divisor, `math.fmod` that of the dividend; a quotient goes towards zero.
#[test]
fn functions_of_two_integers_are_exact() {
    for a in -7..=7_i64 {
        for b in -7..=7_i64 {
            let of = |function| {
                let found = binary(function, &ints(&[], &[a]), &ints(&[], &[b]));
                found.map(|array| array.integers().unwrap()[0]).ok()
            };
            let quotient = (b != 0).then(|| (a.abs() / b.abs()) * a.signum() * b.signum());
            let floor = (b != 0).then(|| (a as f64 / b as f64).floor() as i64);
            assert_eq!(of(Binary::Add), Some(a + b));
            assert_eq!(of(Binary::Sub), Some(a - b));
            assert_eq!(of(Binary::Mul), Some(a * b));
            assert_eq!(of(Binary::Div), quotient, "{a} / {b}");
            assert_eq!(of(Binary::Mod), floor.map(|q| a - b * q), "{a} mod {b}");
            assert_eq!(
                of(Binary::Remainder),
                quotient.map(|q| a - b * q),
                "{a} rem {b}"
            );
            assert_eq!(of(Binary::Max), Some(if a > b { a } else { b }));
            assert_eq!(of(Binary::Min), Some(if a < b { a } else { b }));
            let power = (b >= 0).then(|| (0..b).fold(1, |power, _| power * a));
            assert_eq!(of(Binary::Pow), power, "{a}^{b}");
        }
    }
    let of = |function, a, b| said(binary(function, &ints(&[], &[a]), &ints(&[], &[b])));
    assert_eq!(
        of(Binary::Add, i64::MAX, 1),
        "Add of two constants overflows or divides by 0"
    );
    assert_eq!(of(Binary::Or, 1, 1), "Or of integers is not evaluated");
}

/// The number that a size is for a batch.
fn of_rows(size: Size, rows: i64) -> i64 {
    size.factor * if size.of_batch { rows } else { 1 }
}

fn of_sizes(function: Binary, a: Size, b: Size) -> Result<Array, Refusal> {
    let [a, b] = [a, b].map(|of| Array::new(vec![1], Values::Sizes(vec![of])));
    binary(function, &a, &b)
}

/// Sizes of a batch that is not known: what is evaluated holds for every batch, and sums and products that are refused
/// are no size.
#[test]
fn functions_of_sizes_hold_for_every_batch() {
    type Exact = fn(i64, i64) -> Option<i64>;
    let functions: [(Binary, bool, Exact); 6] = [
        (Binary::Add, true, |a, b| Some(a + b)),
        (Binary::Sub, false, |a, b| Some(a - b)),
        (Binary::Mul, true, |a, b| Some(a * b)),
        (Binary::Div, false, i64::checked_div),
        (Binary::Max, false, |a, b| Some(a.max(b))),
        (Binary::Min, false, |a, b| Some(a.min(b))),
    ];
    let all: Vec<Size> = (-4..=4)
        .flat_map(|factor| [size(factor, false), size(factor, true)])
        .filter(|size| size.factor != 0 || !size.of_batch)
        .collect();
    for (function, is_complete, exact) in functions {
        let mut n_known = 0;
        for (&a, &b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let fits = |c: Size| {
                (1..=6).all(|n| exact(of_rows(a, n), of_rows(b, n)) == Some(of_rows(c, n)))
            };
            match of_sizes(function, a, b) {
                Ok(found) => {
                    let found = found.sizes().unwrap()[0];
                    assert!(fits(found), "{function:?} of {a:?} and {b:?}: {found:?}");
                    assert!(found.factor != 0 || !found.of_batch);
                    n_known += usize::from(a.of_batch || b.of_batch);
                }
                Err(refusal) if a.of_batch || b.of_batch => {
                    let expected =
                        format!("{function:?} of sizes that depend on the batch is not known");
                    assert_eq!(refusal.0, expected);
                    let mut candidates = (-9..=9).flat_map(|k| [size(k, false), size(k, true)]);
                    assert!(
                        !is_complete || !candidates.any(fits),
                        "{function:?} of {a:?} and {b:?}"
                    );
                }
                Err(_) => assert_eq!((function, b.factor), (Binary::Div, 0)),
            }
        }
        assert!(n_known > 30, "{function:?}: {n_known}");
    }
}

/// A batch has at least one row, so that 3·N is the larger beside 3, but not beside 4.
#[test]
fn sizes_are_compared_where_every_batch_gives_the_same() {
    let equal = |a, b| of_sizes(Binary::Eq, a, b).ok().map(|array| array.values);
    let truth = |value: bool| Some(Values::Bool(vec![value]));
    assert_eq!(equal(size(2, true), size(2, true)), truth(true));
    assert_eq!(equal(size(2, true), size(3, true)), truth(false));
    assert_eq!(equal(size(2, true), size(-1, false)), truth(false));
    assert_eq!(equal(size(0, false), size(2, true)), truth(false));
    assert_eq!(equal(size(2, true), size(4, false)), None);

    let larger = |a, b| {
        of_sizes(Binary::Max, a, b)
            .ok()
            .map(|array| array.sizes().unwrap()[0])
    };
    let batch = size(3, true);
    for low in [3, 2, 0, -5] {
        assert_eq!(larger(batch, size(low, false)), Some(batch));
        assert_eq!(larger(size(low, false), batch), Some(batch));
    }
    for high in [4, 9] {
        assert_eq!(larger(batch, size(high, false)), None);
        assert_eq!(larger(size(high, false), batch), None);
    }
    assert_eq!(larger(size(-2, true), size(-3, false)), None);
    assert_eq!(larger(size(2, true), size(5, true)), Some(size(5, true)));
    let smaller = of_sizes(Binary::Min, size(2, true), size(5, true));
    assert_eq!(smaller.unwrap().sizes(), Some(vec![size(2, true)]));
}

#[test]
fn choices_and_casts() {
    let condition = truths(&[true, false]);
    let chosen = choose(&condition, &floats(&[2], &[1.0, 2.0]), &floats(&[], &[9.0]));
    assert_eq!(chosen, Ok(floats(&[2], &[1.0, 9.0])));
    let chosen = choose(&condition, &ints(&[1], &[5]), &ints(&[2, 1], &[6, 7]));
    assert_eq!(chosen, Ok(ints(&[2, 2], &[5, 6, 5, 7])));
    let chosen = choose(&condition, &condition, &truths(&[true]));
    assert_eq!(chosen, Ok(truths(&[true, true])));
    let sizes = Array::new(vec![2], Values::Sizes(vec![size(2, true), size(3, true)]));
    let of_both = Array::new(vec![2], Values::Sizes(vec![size(2, true), size(8, false)]));
    assert_eq!(
        choose(&condition, &sizes, &ints(&[2], &[7, 8])),
        Ok(of_both)
    );
    assert_eq!(
        choose(&condition, &ints(&[2], &[7, 8]), &sizes)
            .unwrap()
            .sizes()
            .unwrap()[1],
        size(3, true)
    );
    let refused = choose(&condition, &floats(&[], &[1.0]), &ints(&[], &[1]));
    assert_eq!(said(refused), "a choice between two types is not evaluated");
    let refused = choose(&ints(&[], &[1]), &ints(&[], &[1]), &ints(&[], &[1]));
    assert_eq!(said(refused), "a condition is not of truth values");

    let of = [
        floats(&[3], &[-1.7, 0.0, 2.5]),
        ints(&[3], &[-1, 0, 2]),
        truths(&[true, false, true]),
    ];
    let to = |dtype| {
        of.each_ref()
            .map(|array| cast(array, dtype).unwrap().values)
    };
    let whole = [-1, 0, 2].to_vec();
    assert_eq!(
        to(DType::I64),
        [
            Values::I64(whole.clone()),
            Values::I64(whole),
            Values::I64(vec![1, 0, 1])
        ]
    );
    let expected = [
        vec![-1.7, 0.0, 2.5],
        vec![-1.0, 0.0, 2.0],
        vec![1.0, 0.0, 1.0],
    ];
    assert_eq!(to(DType::F32), expected.map(Values::F32));
    assert_eq!(
        to(DType::Bool),
        [(); 3].map(|()| Values::Bool(vec![true, false, true]))
    );
    assert_eq!(cast(&sizes, DType::I64), Ok(sizes.clone()));
    assert_eq!(
        said(cast(&sizes, DType::F32)),
        "a size of the batch is not known as f32"
    );
}
