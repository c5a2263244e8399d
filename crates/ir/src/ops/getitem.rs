//! Indexing as Python writes it, `x[:, 0, 2:5]`.

use super::check;
use super::pad::Sources;
use super::rearrange::Rearrange;
use crate::{Dim, OpError, RowCoupling, Shape, TorchModule, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `getitem`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Getitem {
    /// The text between the brackets: numbers, which drop their axis, and slices `a:b` or `a:b:step`, which keep it; negative
    /// numbers count from the end, and axes that are not named stay whole. An axis sized by a symbol stays whole.
    pub index: String,
}

/// The slice of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisSlice {
    /// The first element.
    pub start: usize,
    /// The number of elements.
    pub len: Dim,
    /// The distance of two elements.
    pub step: usize,
    /// True when the axis stays; a plain number drops it.
    pub keep: bool,
}

impl Getitem {
    /// The slice that the index takes from each axis of a value of this shape.
    pub fn parsed(&self, shape: &Shape) -> Result<Vec<AxisSlice>, OpError> {
        let refuse = |why: String| OpError::attribute("index", format!("\"{}\"", self.index), why);
        let items: Vec<&str> = self.index.split(',').map(str::trim).collect();
        if items.len() > shape.rank() {
            return Err(refuse(format!("names {} axes of {shape}", items.len())));
        }
        let items = items.into_iter().chain(std::iter::repeat(":"));
        let slices = shape
            .0
            .iter()
            .zip(items)
            .map(|(dim, item)| axis_slice(dim, item));
        slices.collect::<Result<_, _>>().map_err(refuse)
    }
}

impl AxisSlice {
    /// The elements that it takes from an axis.
    pub fn sources(&self) -> Sources {
        let places = (self.start..).step_by(self.step).map(Some);
        places.take(self.len.fixed().unwrap_or(1)).collect()
    }
}

impl Rearrange for Getitem {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let input = check::any_input(inputs, 0)?;
        let slices = self.parsed(&input.shape)?.into_iter();
        let shape = Shape(
            slices
                .filter(|slice| slice.keep)
                .map(|slice| slice.len)
                .collect(),
        );
        Ok(vec![input.with_shape(shape)])
    }

    /// An axis sized by a symbol stays whole.
    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}

fn axis_slice(dim: &Dim, item: &str) -> Result<AxisSlice, String> {
    let Some((start, rest)) = item.split_once(':') else {
        let at = number(item)?;
        let size = size_of(dim, item)?;
        let start = from_start(at, size).filter(|&start| start < size);
        let start =
            start.ok_or_else(|| format!("{at} is out of range for an axis of size {size}"))?;
        return Ok(AxisSlice {
            start,
            len: 1.into(),
            step: 1,
            keep: false,
        });
    };
    let (end, step) = rest.split_once(':').unwrap_or((rest, ""));
    let step = match step.trim() {
        "" => 1,
        text => text
            .parse()
            .ok()
            .filter(|&step| step > 0)
            .ok_or_else(|| format!("'{item}' has a step that is not a number of at least 1"))?,
    };
    let (start, end) = (start.trim(), end.trim());
    if start.is_empty() && end.is_empty() && step == 1 {
        return Ok(AxisSlice {
            start: 0,
            len: dim.clone(),
            step,
            keep: true,
        });
    }
    let size = size_of(dim, item)?;
    let place = |text: &str, default: usize| -> Result<usize, String> {
        let given = (!text.is_empty()).then(|| number(text)).transpose()?;
        Ok(given.map_or(default, |n| from_start(n, size).unwrap_or(0).min(size)))
    };
    let (start, end) = (place(start, 0)?, place(end, size)?);
    match end.checked_sub(start) {
        Some(len @ 1..) => Ok(AxisSlice {
            start,
            len: len.div_ceil(step).into(),
            step,
            keep: true,
        }),
        _ => Err(format!(
            "'{item}' takes nothing from an axis of size {size}"
        )),
    }
}

fn number(text: &str) -> Result<i64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("'{text}' is not a number or a slice"))
}

fn size_of(dim: &Dim, item: &str) -> Result<usize, String> {
    dim.fixed()
        .ok_or_else(|| format!("'{item}' cuts an axis of unknown size {dim}; write ':'"))
}

/// A place that may count from the end; `None` when it lies before the start.
fn from_start(at: i64, size: usize) -> Option<usize> {
    let back = usize::try_from(at.unsigned_abs()).ok()?;
    if at < 0 {
        size.checked_sub(back)
    } else {
        Some(back)
    }
}
