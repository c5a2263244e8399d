//! Elements moved about: broadcasting, permuting, slicing, joining, picking.

use super::{Array, MAX_ELEMENTS, Refusal, Size, Values, check_growth, map_values};

/// The distance between neighbours of each axis.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// The places of the elements of a view: for every index of `shape` in order, `offset` and the sum of index times stride.
pub fn index_grid(shape: &[usize], offset: i64, strides: &[i64]) -> Result<Vec<usize>, Refusal> {
    let count = shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    let count = count.filter(|&count| count <= MAX_ELEMENTS);
    let count =
        count.ok_or_else(|| Refusal::new(format!("a constant of shape {shape:?} is too large")))?;
    let mut places = Vec::with_capacity(count);
    let mut index = vec![0_usize; shape.len()];
    let mut at = offset;
    for _ in 0..count {
        places.push(at as usize);
        // Behind the last element of an axis lies no place, however long its step.
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at = at.wrapping_add(strides[axis]);
            if index[axis] < shape[axis] {
                break;
            }
            at = at.wrapping_sub(strides[axis].wrapping_mul(index[axis] as i64));
            index[axis] = 0;
        }
    }
    Ok(places)
}

fn pick(array: &Array, shape: Vec<usize>, places: &[usize]) -> Array {
    let values =
        map_values!(&array.values, values => places.iter().map(|&at| values[at]).collect());
    Array::new(shape, values)
}

/// The tensor repeated along axes of size 1 and new axes in front.
pub fn expand(array: &Array, shape: &[usize]) -> Result<Array, Refusal> {
    check_growth(shape, array.values.len())?;
    spread(array, shape)
}

/// The tensor repeated so that it has the elements of another.
pub fn spread(array: &Array, shape: &[usize]) -> Result<Array, Refusal> {
    if array.shape == shape {
        return Ok(array.clone());
    }
    let refuse = || {
        Refusal::new(format!(
            "a constant of shape {:?} does not expand to {shape:?}",
            array.shape
        ))
    };
    let missing = shape
        .len()
        .checked_sub(array.shape.len())
        .ok_or_else(refuse)?;
    let own = strides(&array.shape);
    let mut steps = vec![0_i64; missing];
    for (axis, &size) in array.shape.iter().enumerate() {
        match size {
            1 => steps.push(0),
            size if size == shape[missing + axis] => steps.push(own[axis] as i64),
            _ => return Err(refuse()),
        }
    }
    let places = index_grid(shape, 0, &steps)?;
    Ok(pick(array, shape.to_vec(), &places))
}

/// The axes in another order.
pub fn permute(array: &Array, order: &[usize]) -> Result<Array, Refusal> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..array.shape.len()) {
        return Err(Refusal::new(format!(
            "{order:?} is no order of the axes of {:?}",
            array.shape
        )));
    }
    let own = strides(&array.shape);
    let shape: Vec<usize> = order.iter().map(|&axis| array.shape[axis]).collect();
    let steps: Vec<i64> = order.iter().map(|&axis| own[axis] as i64).collect();
    let places = index_grid(&shape, 0, &steps)?;
    Ok(pick(array, shape, &places))
}

/// Every `step`th element from `start` on along an axis, `len` of them.
pub fn slice(
    array: &Array,
    axis: usize,
    start: usize,
    step: i64,
    len: usize,
) -> Result<Array, Refusal> {
    let mut steps: Vec<i64> = strides(&array.shape).iter().map(|&s| s as i64).collect();
    let offset = start as i64 * steps[axis];
    steps[axis] = steps[axis]
        .checked_mul(step)
        .ok_or_else(|| Refusal::new("a step is too large"))?;
    let mut shape = array.shape.clone();
    shape[axis] = len;
    let places = index_grid(&shape, offset, &steps)?;
    Ok(pick(array, shape, &places))
}

fn no_axis(array: &Array, axis: usize) -> Refusal {
    let shape = &array.shape;
    Refusal(format!("a constant of shape {shape:?} has no axis {axis}"))
}

/// Slices picked by index along an axis; negative indices count from the end.
pub fn gather(array: &Array, indices: &Array, axis: usize) -> Result<Array, Refusal> {
    let picks = indices
        .integers()
        .ok_or_else(|| Refusal::new("indices are not known integers"))?;
    let size = array.shape.get(axis).copied();
    let size = size.ok_or_else(|| no_axis(array, axis))? as i64;
    let place = |&index: &i64| {
        let at = if index < 0 { index + size } else { index };
        let inside = (0..size).contains(&at).then_some(at as usize);
        inside.ok_or_else(|| {
            Refusal::new(format!(
                "index {index} is out of range for an axis of size {size}"
            ))
        })
    };
    let picks: Vec<usize> = picks.iter().map(place).collect::<Result<_, _>>()?;
    let inner: usize = array.shape[axis + 1..].iter().product();
    let outer: usize = array.shape[..axis].iter().product();
    check_growth(&[outer, picks.len(), inner], array.values.len())?;
    let mut places = Vec::with_capacity(outer * picks.len() * inner);
    for row in 0..outer {
        for &at in &picks {
            let first = (row * array.shape[axis] + at) * inner;
            places.extend(first..first + inner);
        }
    }
    let shape = [
        &array.shape[..axis],
        &indices.shape,
        &array.shape[axis + 1..],
    ]
    .concat();
    Ok(pick(array, shape, &places))
}

/// Tensors of one type joined along an axis.
pub fn concat(arrays: &[Array], axis: usize) -> Result<Array, Refusal> {
    let refuse = || Refusal::new("constants of different types or shapes are joined");
    let first = arrays.first().ok_or_else(refuse)?;
    let mut shape = first.shape.clone();
    if axis >= shape.len() {
        return Err(no_axis(first, axis));
    }
    shape[axis] = 0;
    for array in arrays {
        let fits = array.shape.len() == shape.len()
            && (0..shape.len()).all(|k| k == axis || array.shape[k] == shape[k]);
        if !fits {
            return Err(refuse());
        }
        shape[axis] += array.shape[axis];
    }
    let given = arrays.iter().map(|array| array.values.len()).sum();
    check_growth(&shape, given)?;
    let outer: usize = shape[..axis].iter().product();
    let has_sizes = arrays
        .iter()
        .any(|array| matches!(array.values, Values::Sizes(_)));
    macro_rules! joined {
        ($variant:ident) => {{
            let parts = arrays.iter().map(|array| match &array.values {
                Values::$variant(values) => Ok(values.as_slice()),
                _ => Err(refuse()),
            });
            let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
            Values::$variant(join(&parts, outer))
        }};
    }
    let values = match &first.values {
        _ if has_sizes => {
            let sizes = arrays.iter().map(|array| array.sizes().ok_or_else(refuse));
            let sizes: Vec<Vec<Size>> = sizes.collect::<Result<_, _>>()?;
            let parts: Vec<&[Size]> = sizes.iter().map(Vec::as_slice).collect();
            Values::Sizes(join(&parts, outer))
        }
        Values::F32(_) => joined!(F32),
        Values::I64(_) => joined!(I64),
        Values::Bool(_) => joined!(Bool),
        Values::Sizes(_) => joined!(Sizes),
    };
    Ok(Array::new(shape, values))
}

fn join<T: Clone>(parts: &[&[T]], outer: usize) -> Vec<T> {
    let rows = (0..outer).flat_map(|row| {
        parts.iter().flat_map(move |part| {
            let len = part.len() / outer.max(1);
            part[row * len..(row + 1) * len].iter().cloned()
        })
    });
    rows.collect()
}
