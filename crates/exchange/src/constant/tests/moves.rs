//! Elements moved about, index by index.

use super::*;

type Sizes = &'static [usize];

#[test]
fn shapes_broadcast_as_those_of_numpy() {
    let cases: [(Sizes, Sizes, Option<Sizes>); 7] = [
        (&[2, 3], &[3], Some(&[2, 3])),
        (&[3], &[2, 1], Some(&[2, 3])),
        (&[], &[4], Some(&[4])),
        (&[1, 5], &[4, 1], Some(&[4, 5])),
        (&[0], &[1], Some(&[0])),
        (&[2], &[3], None),
        (&[2, 3], &[2], None),
    ];
    for (a, b, expected) in cases {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(
                broadcast_shapes(a, b).ok().as_deref(),
                expected,
                "{a:?} {b:?}"
            );
        }
    }
}

#[test]
fn elements_repeat_along_new_axes_and_those_of_size_one() {
    let array = places(&[2, 1, 3]);
    let found = expand(&array, &[4, 2, 5, 3]).unwrap();
    for index in indices(&[4, 2, 5, 3]) {
        assert_eq!(at(&found, &index), at(&array, &index), "{index:?}");
    }
    assert_eq!(expand(&array, &[2, 1, 3]), Ok(array.clone()));
    for shape in [&[3][..], &[2, 1, 1], &[3, 1, 3]] {
        let expected = format!("a constant of shape [2, 1, 3] does not expand to {shape:?}");
        assert_eq!(said(expand(&array, shape)), expected);
    }
}

#[test]
fn axes_change_places() {
    let array = places(&[2, 3, 4]);
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let found = permute(&array, &order).unwrap();
        assert_eq!(found.shape, order.map(|axis| array.shape[axis]));
        for index in indices(&found.shape) {
            let mut own = [0; 3];
            for (place, &axis) in order.iter().enumerate() {
                own[axis] = index[place];
            }
            assert_eq!(at(&found, &index), at(&array, &own), "{order:?} {index:?}");
        }
    }
    for order in [&[0, 1][..], &[0, 1, 1], &[1, 2, 3]] {
        assert!(permute(&array, order).is_err(), "{order:?}");
    }
    assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
}

#[test]
fn slices_step_through_an_axis_either_way() {
    let array = places(&[3, 5, 2]);
    for (start, step, len) in [
        (0, 1, 5),
        (1, 2, 2),
        (4, -1, 5),
        (3, -2, 2),
        (2, 1, 1),
        (4, 9, 1),
    ] {
        let found = slice(&array, 1, start, step, len).unwrap();
        assert_eq!(found.shape, [3, len, 2]);
        for index in indices(&found.shape) {
            let along = (start as i64 + step * index[1] as i64) as usize;
            assert_eq!(at(&found, &index), at(&array, &[index[0], along, index[2]]));
        }
    }
    assert_eq!(
        said(slice(&array, 1, 0, i64::MAX, 1)),
        "a step is too large"
    );
}

#[test]
fn slices_are_picked_by_index() {
    let array = places(&[2, 3, 4]);
    for axis in 0..3 {
        let size = array.shape[axis] as i64;
        let picks = ints(&[2, 2], &[0, -1, size - 1, -size]);
        let found = gather(&array, &picks, axis).unwrap();
        let shape = [&array.shape[..axis], &[2, 2], &array.shape[axis + 1..]].concat();
        assert_eq!(found.shape, shape);
        for index in indices(&shape) {
            let pick = picks.integers().unwrap()[index[axis] * 2 + index[axis + 1]];
            let mut own = index.clone();
            own.remove(axis);
            own[axis] = pick.rem_euclid(size) as usize;
            assert_eq!(at(&found, &index), at(&array, &own), "{axis} {index:?}");
        }
        for bad in [size, -size - 1] {
            let expected = format!("index {bad} is out of range for an axis of size {size}");
            assert_eq!(said(gather(&array, &ints(&[], &[bad]), axis)), expected);
        }
    }
    assert_eq!(
        said(gather(&array, &floats(&[], &[0.0]), 0)),
        "indices are not known integers"
    );
    assert_eq!(
        said(gather(&array, &ints(&[], &[0]), 3)),
        "a constant of shape [2, 3, 4] has no axis 3"
    );
}

#[test]
fn tensors_are_joined_along_an_axis() {
    for axis in 0..3 {
        let mut other = [2, 3, 4];
        other[axis] = 2;
        let parts = [places(&[2, 3, 4]), places(&other)];
        let found = concat(&parts, axis).unwrap();
        let first = parts[0].shape[axis];
        assert_eq!(found.shape[axis], first + 2);
        for index in indices(&found.shape) {
            let mut own = index.clone();
            let from = usize::from(own[axis] >= first);
            own[axis] -= from * first;
            assert_eq!(
                at(&found, &index),
                at(&parts[from], &own),
                "{axis} {index:?}"
            );
        }
    }
    let sizes = Array::new(vec![1], Values::Sizes(vec![size(2, true)]));
    let found = concat(&[ints(&[2], &[3, 4]), sizes], 0).unwrap();
    assert_eq!(
        found.sizes().unwrap(),
        [size(3, false), size(4, false), size(2, true)]
    );
    assert_eq!(
        concat(&[truths(&[true]), truths(&[false])], 0),
        Ok(truths(&[true, false]))
    );
    let refused = "constants of different types or shapes are joined";
    assert_eq!(
        said(concat(&[floats(&[1], &[1.0]), ints(&[1], &[1])], 0)),
        refused
    );
    assert_eq!(
        said(concat(&[places(&[2, 3]), places(&[2, 4])], 0)),
        refused
    );
    assert_eq!(said(concat(&[places(&[2]), places(&[2, 1])], 0)), refused);
    assert_eq!(said(concat(&[], 0)), refused);
    assert_eq!(
        said(concat(&[places(&[2])], 1)),
        "a constant of shape [2] has no axis 1"
    );
}
