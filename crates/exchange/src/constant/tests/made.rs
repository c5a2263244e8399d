//! Tensors made of a rule, reductions, products, bounds.

use super::*;

#[test]
fn reductions_combine_the_elements_of_their_axes() {
    let array = ints(&[2, 3], &[4, -1, 2, 0, 5, -3]);
    let cases: [(Reduction, [&[i64]; 3]); 5] = [
        (Reduction::Sum, [&[4, 4, -1], &[5, 2], &[7]]),
        (Reduction::Mean, [&[2, 2, 0], &[1, 0], &[1]]),
        (Reduction::Max, [&[4, 5, 2], &[4, 5], &[5]]),
        (Reduction::Min, [&[0, -1, -3], &[-1, -3], &[-3]]),
        (Reduction::Prod, [&[0, -5, -6], &[-8, 0], &[0]]),
    ];
    let axes: [(&[usize], &[usize], &[usize]); 3] = [
        (&[0], &[3], &[1, 3]),
        (&[1], &[2], &[2, 1]),
        (&[0, 1], &[], &[1, 1]),
    ];
    for (kind, expected) in cases {
        for ((axes, dropped, kept), expected) in axes.into_iter().zip(expected) {
            let found = reduce(kind, &array, axes, false);
            assert_eq!(found, Ok(ints(dropped, expected)), "{kind:?} {axes:?}");
            let found = reduce(kind, &array, axes, true);
            assert_eq!(found, Ok(ints(kept, expected)), "{kind:?} {axes:?}");
            if kind != Reduction::Mean {
                let exact: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
                let of_floats = reduce(kind, &cast(&array, DType::F32).unwrap(), axes, false);
                assert_eq!(of_floats, Ok(floats(dropped, &exact)), "{kind:?} {axes:?}");
            }
        }
    }
    let mean = reduce(
        Reduction::Mean,
        &floats(&[4], &[1.0, 2.0, 4.0, 3.0]),
        &[0],
        false,
    );
    assert_eq!(mean, Ok(floats(&[], &[2.5])));
    let refused = |kind, array: &Array| {
        let expected = format!("{kind:?} of these constants is not evaluated");
        assert_eq!(said(reduce(kind, array, &[0], false)), expected);
    };
    refused(Reduction::Sum, &ints(&[2], &[i64::MAX, 1]));
    refused(Reduction::Prod, &ints(&[2], &[i64::MAX, 2]));
    refused(Reduction::Max, &ints(&[0], &[]));
    refused(Reduction::Sum, &truths(&[true]));
    let sizes = |list: &[Size]| Array::new(vec![list.len()], Values::Sizes(list.to_vec()));
    let product = reduce(
        Reduction::Prod,
        &sizes(&[size(2, false), size(3, true), size(4, false)]),
        &[0],
        false,
    );
    assert_eq!(product.unwrap().sizes(), Some(vec![size(24, true)]));
    refused(Reduction::Prod, &sizes(&[size(2, true), size(3, true)]));
    refused(Reduction::Sum, &sizes(&[size(2, true), size(3, true)]));
}

/// The examples of ONNX's running sums, and both axes of a matrix.
#[test]
fn sums_run_along_an_axis() {
    let of =
        |array: &Array, axis, exclusive, reverse| cumulative_sum(array, axis, exclusive, reverse);
    let line = floats(&[5], &[1.0, 2.0, 3.0, 4.0, 5.0]);
    for (exclusive, reverse, expected) in [
        (false, false, [1.0, 3.0, 6.0, 10.0, 15.0]),
        (true, false, [0.0, 1.0, 3.0, 6.0, 10.0]),
        (false, true, [15.0, 14.0, 12.0, 9.0, 5.0]),
        (true, true, [14.0, 12.0, 9.0, 5.0, 0.0]),
    ] {
        assert_eq!(
            of(&line, 0, exclusive, reverse),
            Ok(floats(&[5], &expected))
        );
    }
    let matrix = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    assert_eq!(
        of(&matrix, 0, false, false),
        Ok(ints(&[2, 3], &[1, 2, 3, 5, 7, 9]))
    );
    assert_eq!(
        of(&matrix, 1, false, false),
        Ok(ints(&[2, 3], &[1, 3, 6, 4, 9, 15]))
    );
    let cube = ints(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        of(&cube, 1, false, false),
        Ok(ints(&[2, 2, 2], &[1, 2, 4, 6, 5, 6, 12, 14]))
    );
    assert_eq!(
        said(of(&ints(&[2], &[i64::MAX, 1]), 0, false, false)),
        "a sum of constants overflows"
    );
    assert_eq!(
        said(of(&truths(&[true]), 0, false, false)),
        "a sum is of numbers"
    );
}

/// The sum over k of a\[…, i, k\]·b\[…, k, j\].
#[test]
fn products_are_sums_over_the_inner_axis() {
    let floats_of = |shape: &[usize]| cast(&places(shape), DType::F32).unwrap();
    let exact = |array: &Array| cast(array, DType::I64).unwrap();
    for (a, b, expected) in [
        (&[2, 3][..], &[3, 4][..], &[2, 4][..]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[5, 1, 2, 3], &[6, 3, 4], &[5, 6, 2, 4]),
        (&[1, 3], &[5, 3, 1], &[5, 1, 1]),
    ] {
        let (a, b) = (floats_of(a), floats_of(b));
        let found = exact(&matmul(&a, &b).unwrap());
        assert_eq!(found.shape, expected);
        let (a, b) = (exact(&a), exact(&b));
        for index in indices(expected) {
            let (front, [i, j]) = index.split_last_chunk::<2>().unwrap();
            let sum: i64 = (0..3)
                .map(|k| at(&a, &[front, &[*i, k]].concat()) * at(&b, &[front, &[k, *j]].concat()))
                .sum();
            assert_eq!(at(&found, &index), sum, "{index:?}");
        }
    }
    let vector = floats(&[3], &[1.0, 2.0, 3.0]);
    assert_eq!(matmul(&vector, &vector), Ok(floats(&[], &[14.0])));
    let matrix = floats(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(matmul(&vector, &matrix), Ok(floats(&[2], &[22.0, 28.0])));
    let turned = permute(&matrix, &[1, 0]).unwrap();
    assert_eq!(matmul(&turned, &vector), Ok(floats(&[2], &[22.0, 28.0])));
    for (a, b) in [
        (&matrix, &matrix),
        (&vector, &turned),
        (&floats(&[], &[1.0]), &matrix),
    ] {
        let expected = format!(
            "constants of shapes {:?} and {:?} have no product",
            a.shape, b.shape
        );
        assert_eq!(said(matmul(a, b)), expected);
    }
    assert!(matmul(&ints(&[1, 1], &[1]), &ints(&[1, 1], &[1])).is_err());
}

#[test]
fn ranges_are_those_of_python() {
    for start in -4..=4_i64 {
        for limit in -4..=4_i64 {
            for delta in [-3, -2, -1, 1, 2, 3] {
                let mut expected = Vec::new();
                let mut next = start;
                while if delta > 0 {
                    next < limit
                } else {
                    next > limit
                } {
                    expected.push(next);
                    next += delta;
                }
                let one = |value: i64| ints(&[], &[value]);
                let found = range(&one(start), &one(limit), &one(delta)).unwrap();
                assert_eq!(
                    found,
                    ints(&[expected.len()], &expected),
                    "{start} {limit} {delta}"
                );
                let [a, b, d] = [start, limit, delta].map(|x| floats(&[1], &[x as f32 / 2.0]));
                let halves: Vec<f32> = expected.iter().map(|&x| x as f32 / 2.0).collect();
                assert_eq!(range(&a, &b, &d).unwrap().floats(), Some(halves.as_slice()));
            }
        }
    }
    let one = |value: i64| ints(&[], &[value]);
    let refused = "a range is of three numbers of one type and steps towards its limit";
    for (start, limit, delta) in [
        (one(0), one(3), one(0)),
        (one(0), one(1 << 40), one(1)),
        (one(0), floats(&[], &[3.0]), one(1)),
        (ints(&[2], &[0, 1]), one(3), one(1)),
        (
            floats(&[], &[0.0]),
            floats(&[2], &[1.0, 2.0]),
            floats(&[], &[1.0]),
        ),
    ] {
        assert_eq!(said(range(&start, &limit, &delta)), refused);
    }
}

/// `numpy.triu` and `numpy.tril`.
#[test]
fn triangles_are_counted_from_their_diagonal() {
    let array = ints(&[2, 3, 4], &[1; 24]);
    for k in -4..=4 {
        for upper in [true, false] {
            let found = band(&array, upper, k).unwrap();
            for index in indices(&array.shape) {
                let distance = index[2] as i64 - index[1] as i64;
                let stays = if upper { distance >= k } else { distance <= k };
                assert_eq!(at(&found, &index), i64::from(stays), "{k} {index:?}");
            }
        }
    }
    let found = band(&floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), true, 0);
    assert_eq!(found, Ok(floats(&[2, 2], &[1.0, 2.0, 0.0, 4.0])));
    let truth = truths(&[true; 4]).reshaped(vec![2, 2]).unwrap();
    let found = band(&truth, false, 0).unwrap();
    assert_eq!(found.values, Values::Bool(vec![true, false, true, true]));
    assert_eq!(
        said(band(&truths(&[true]), true, 0)),
        "a triangle needs two axes"
    );
    let sizes = Array::new(vec![1, 1], Values::Sizes(vec![size(1, true)]));
    assert_eq!(said(band(&sizes, true, 0)), "sizes have no triangle");
}

#[test]
fn constants_have_bounds() {
    assert_eq!(
        filled(&[2, 3], &floats(&[1], &[0.5])),
        Ok(floats(&[2, 3], &[0.5; 6]))
    );
    assert_eq!(filled(&[2], &ints(&[1], &[7])), Ok(ints(&[2], &[7, 7])));
    assert_eq!(filled(&[2], &truths(&[true])), Ok(truths(&[true, true])));
    assert_eq!(
        said(filled(&[2], &ints(&[2], &[7, 8]))),
        "a constant is filled with one number"
    );
    let too_large = said(filled(&[64_000_001], &floats(&[1], &[0.5])));
    assert!(
        too_large.starts_with("a constant of shape [64000001] needs more than the 256 MB"),
        "{too_large}"
    );
    assert!(said(filled(&[32_000_001], &ints(&[1], &[1]))).contains("needs more than the 256 MB"));

    assert_eq!(element_count(&[1 << 14, 1 << 14]), Ok(1 << 28));
    let error = element_count(&[(1 << 28) + 1]).unwrap_err().0;
    assert_eq!(
        error,
        "a constant of shape [268435457] has more than 2^28 elements"
    );
    assert!(element_count(&[usize::MAX, 3]).is_err());
    assert!(check_rank(64).is_ok() && element_count(&[1; 64]) == Ok(1));
    assert_eq!(
        element_count(&[1; 65]).unwrap_err().0,
        "a shape of 65 axes is not read"
    );

    // Of few elements those of the mask of 4096 positions, of many four times as many.
    assert!(check_growth(&[4096, 4096], 0).is_ok());
    assert!(check_growth(&[4096, 4097], 0).is_err());
    assert!(check_growth(&[4, 1 << 23], 1 << 23).is_ok());
    let error = check_growth(&[4, (1 << 23) + 1], 1 << 23).unwrap_err().0;
    assert_eq!(
        error,
        "a constant of shape [4, 8388609] has more than 33554432 elements"
    );
}

#[test]
fn elements_have_a_number_a_size_and_a_type() {
    let sizes = Values::Sizes(vec![size(1, true), size(2, false)]);
    for (values, len, bytes, dtype) in [
        (Values::F32(vec![0.0; 3]), 3, 12, DType::F32),
        (Values::I64(vec![0; 2]), 2, 16, DType::I64),
        (Values::Bool(vec![true; 5]), 5, 5, DType::Bool),
        (sizes.clone(), 2, 2 * size_of::<Size>() as u64, DType::I64),
        (Values::F32(Vec::new()), 0, 0, DType::F32),
    ] {
        assert_eq!(
            (values.len(), values.bytes(), values.dtype()),
            (len, bytes, dtype)
        );
        assert_eq!(values.is_empty(), len == 0);
    }
    assert_eq!(sizes.clone().simplified(), sizes);
    let plain = Values::Sizes(vec![size(3, false), size(2, false)]).simplified();
    assert_eq!(plain, Values::I64(vec![3, 2]));
    assert_eq!(size(3, true).dim(), Some("3*N".parse().unwrap()));
    assert_eq!(size(-3, false).dim(), None);
    assert_eq!(Size::of(&"4*N".parse().unwrap()), size(4, true));

    assert_eq!(floats(&[1], &[0.5]).number(), Some(0.5));
    assert_eq!(ints(&[], &[-3]).number(), Some(-3.0));
    assert_eq!(truths(&[true]).number(), Some(1.0));
    for many in [
        floats(&[2], &[0.5, 1.0]),
        ints(&[2], &[1, 2]),
        truths(&[true, true]),
    ] {
        assert_eq!(many.number(), None);
    }
    let line = places(&[6]);
    assert_eq!(line.reshaped(vec![2, 3]), Ok(places(&[2, 3])));
    assert_eq!(
        said(line.reshaped(vec![4])),
        "a constant of shape [6] has no shape [4]"
    );
    assert!(line.reshaped(vec![usize::MAX, 2]).is_err());
    assert_eq!((line.floats(), truths(&[true]).integers()), (None, None));
    assert_eq!(floats(&[1], &[1.0]).sizes(), None);
}
