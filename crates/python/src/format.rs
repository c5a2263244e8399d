//! Number formats.

use crate::arrays::{give, lies_in_order, read, values, write};
use crate::codes::Codes;
use crate::errors::{argument, expect, sentence, wrong_type};
use crate::work;
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ops::Range;

/// Elements that are rounded at once where each stands alone; a copy of them stays in the cache.
const BLOCK: usize = 1 << 14;

/// Elements between two looks for Ctrl-C, some milliseconds of work.
const PIECE: usize = 1 << 22;

/// A number format: `Format("integer(8, 4)")`. `ch explain` and `mase.explain` say what each one means.
#[pyclass(frozen, eq, hash, module = "mase", str = "{inner}")]
#[derive(Clone, PartialEq)]
pub struct Format {
    pub inner: ::format::Format,
}

impl std::hash::Hash for Format {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.inner.to_string().hash(state);
    }
}

impl Format {
    /// A format that Python gives, as such or as its text.
    pub fn of(name: &str, value: &Bound<PyAny>) -> PyResult<Self> {
        if let Ok(format) = value.cast::<Self>() {
            return Ok(format.get().clone());
        }
        let Ok(spec) = value.extract::<String>() else {
            let class = value.get_type().name()?;
            return Err(wrong_type(format!(
                "{name}: expected a mase.Format or its text, got {class}"
            )));
        };
        Self::parse(&spec)
    }

    fn parse(spec: &str) -> PyResult<Self> {
        let inner = ::format::Format::parse(spec).map_err(sentence)?;
        Ok(Self { inner })
    }

    fn usable(&self) -> PyResult<&::format::Format> {
        match self.inner.stored_fields().first() {
            Some((field, None)) => Err(sentence(format!(
                "{}: the values of {field} are stored beside the node that has the format; give a number to try it",
                self.inner
            ))),
            _ => Ok(&self.inner),
        }
    }
}

#[pymethods]
impl Format {
    #[new]
    fn new(#[pyo3(from_py_with = argument::spec)] spec: String) -> PyResult<Self> {
        Self::parse(&spec)
    }

    /// The name, `integer`.
    #[getter]
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    /// The fields by name.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        for (name, value) in self.inner.fields() {
            fields.set_item(name, crate::json::to_python(py, &ir::field_json(&value))?)?;
        }
        Ok(fields)
    }

    /// The precision as metadata has it: `[8, 4]`.
    #[getter]
    fn precision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let precision = self.inner.precision();
        crate::json::to_python(py, &precision.iter().map(ir::field_json).collect())
    }

    /// The smallest and the largest value.
    #[getter]
    fn range(&self) -> (f64, f64) {
        self.inner.range()
    }

    /// Bits of an element of an array of this shape, shared scales included.
    #[pyo3(signature = (shape=None))]
    fn bits(&self, #[pyo3(from_py_with = argument::shape)] shape: Option<Vec<usize>>) -> f64 {
        self.inner.bits(&shape.unwrap_or_else(|| vec![1]))
    }

    /// The format that rounds the rows of a batch, the first axis, each by itself.
    fn within_rows(&self) -> Self {
        let inner = self.inner.within_rows();
        Self { inner }
    }

    /// Rounds an array of float32: into a new one, or into `out`, which may be `x` itself.
    #[pyo3(signature = (x, *, out=None))]
    fn quantize<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let format = self.usable()?;
        let Some(out) = out else {
            let x = read::<f32>("x", x)?;
            let (source, shape) = (values(&x)?, x.shape().to_vec());
            if is_whole(format, &shape) {
                let rounded = round_whole(py, format, source, &shape)?;
                return give(py, rounded, &shape);
            }
            let mut rounded = vec![0.0; source.len()];
            for_each_piece(py, format, &shape, |range, shape| {
                let piece = &mut rounded[range.clone()];
                kernels::quantize::quantize(format, &source[range], shape, piece);
            })?;
            return give(py, rounded, &shape);
        };
        let target = out
            .cast::<PyArrayDyn<f32>>()
            .map_err(|_| wrong_type("out: expected an array of float32 to write to"))?;
        if !lies_in_order(target) {
            return Err(sentence(
                "out: the array is not in row-major order or not aligned, so that it cannot be written in place",
            ));
        }
        if out.is(x) {
            round_in_place(py, format, target)?;
        } else {
            let x = read::<f32>("x", x)?;
            if x.shape() != target.shape() {
                return Err(sentence("out: the array has not the shape of x"));
            }
            let (source, shape) = (values(&x)?, x.shape().to_vec());
            let mut target = write("out", target)?;
            let target = target.as_slice_mut().map_err(sentence)?;
            if is_whole(format, &shape) {
                target.copy_from_slice(&round_whole(py, format, source, &shape)?);
            } else {
                for_each_piece(py, format, &shape, |range, shape| {
                    let piece = &mut target[range.clone()];
                    kernels::quantize::quantize(format, &source[range], shape, piece);
                })?;
            }
        }
        Ok(target.clone())
    }

    /// The gradient through the rounding of `x`: straight through, and zero where it saturated.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        gradient: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let format = self.usable()?;
        let (x, gradient) = (read::<f32>("x", x)?, read::<f32>("gradient", gradient)?);
        if x.shape() != gradient.shape() {
            return Err(sentence("gradient: the array has not the shape of x"));
        }
        let (source, shape) = (values(&x)?, x.shape().to_vec());
        if is_whole(format, &shape) {
            let (format, source) = (format.clone(), copied(py, source)?);
            let mut passed = copied(py, values(&gradient)?)?;
            let axes = shape.clone();
            let passed = work::run(py, move || {
                kernels::quantize::straight_through(&format, &source, &axes, &mut passed);
                passed
            })?;
            return give(py, passed, &shape);
        }
        let mut passed = copied(py, values(&gradient)?)?;
        for_each_piece(py, format, &shape, |range, shape| {
            let piece = &mut passed[range.clone()];
            kernels::quantize::straight_through(format, &source[range], shape, piece);
        })?;
        give(py, passed, &shape)
    }

    /// An array in the codes of the format.
    fn encode(&self, py: Python, x: &Bound<PyAny>) -> PyResult<Codes> {
        let format = self.usable()?;
        let x = read::<f32>("x", x)?;
        let (source, shape) = (values(&x)?, x.shape().to_vec());
        for (at, piece) in source.chunks(PIECE).enumerate() {
            let is_nan = |value: &f32| value.is_nan();
            if let Some(index) = py.detach(|| piece.iter().position(is_nan)) {
                let index = at * PIECE + index;
                return Err(sentence(format!(
                    "x: element {index} is nan, and no format holds it"
                )));
            }
            py.check_signals()?;
        }
        if source.len() <= PIECE {
            let codes = py.detach(|| format.encode(source, &shape));
            return Ok(Codes { codes, shape });
        }
        let (format, source) = (format.clone(), copied(py, source)?);
        work::run(py, move || {
            let codes = format.encode(&source, &shape);
            Codes { codes, shape }
        })
    }

    /// The values of codes that this format made.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        codes: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let (format, codes) = (self.usable()?.clone(), expect::<Codes>("codes", codes)?);
        let shape = codes.get().shape.clone();
        let held = codes.clone().unbind();
        let decoded = work::run(py, move || {
            let Codes { codes, shape } = held.get();
            let expected = format.encode(&vec![0.0; codes.len], shape);
            if expected.width == codes.width && expected.shared.len() == codes.shared.len() {
                return Ok(format.decode(codes, shape));
            }
            Err(format!(
                "codes: they have {} bits and {} scales, those of {format} {} and {}",
                codes.width,
                codes.shared.len(),
                expected.width,
                expected.shared.len()
            ))
        })?;
        give(py, decoded.map_err(sentence)?, &shape)
    }

    /// Every code with its value, for formats of up to 8 bits.
    fn table(&self) -> PyResult<Vec<(u64, f32)>> {
        let format = self.usable()?;
        format.values().ok_or_else(|| {
            sentence(format!(
                "{format} has more than 8 bits: its values are too many for a table"
            ))
        })
    }

    fn __repr__(&self) -> String {
        format!("mase.Format(\"{}\")", self.inner)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let spec = (slf.get().inner.to_string(),);
        (slf.get_type(), spec).into_pyobject(slf.py())
    }
}

/// The values of an array that Python may change.
fn copied(py: Python, source: &[f32]) -> PyResult<Vec<f32>> {
    let mut copy = Vec::with_capacity(source.len());
    for piece in source.chunks(PIECE) {
        py.detach(|| copy.extend_from_slice(piece));
        py.check_signals()?;
    }
    Ok(copy)
}

/// True for an array with more elements that are rounded together than a piece has: Ctrl-C leaves its rounding to itself.
fn is_whole(format: &::format::Format, shape: &[usize]) -> bool {
    together(format, shape) > PIECE
}

/// Rounds such an array.
fn round_whole(
    py: Python,
    format: &::format::Format,
    source: &[f32],
    shape: &[usize],
) -> PyResult<Vec<f32>> {
    let (format, source, shape) = (format.clone(), copied(py, source)?, shape.to_vec());
    work::run(py, move || {
        let mut rounded = vec![0.0; source.len()];
        kernels::quantize::quantize(&format, &source, &shape, &mut rounded);
        rounded
    })
}

/// Elements of an array that a format rounds together.
fn together(format: &::format::Format, shape: &[usize]) -> usize {
    let len: usize = shape.iter().product();
    match shape {
        _ if format.rounds_alone() => 1,
        [rows, ..] if *rows > 1 && format.keeps_rows_apart(shape) => len / rows,
        _ => len,
    }
}

/// Rounds an array in its own memory.
fn round_in_place(
    py: Python,
    format: &::format::Format,
    array: &Bound<PyArrayDyn<f32>>,
) -> PyResult<()> {
    let shape = array.shape().to_vec();
    let mut array = write("out", array)?;
    let target = array.as_slice_mut().map_err(sentence)?;
    if is_whole(format, &shape) {
        target.copy_from_slice(&round_whole(py, format, target, &shape)?);
        return Ok(());
    }
    let mut copy = Vec::new();
    let mut round = |shape: &[usize], part: &mut [f32]| {
        copy.clear();
        copy.extend_from_slice(part);
        kernels::quantize::quantize(format, &copy, shape, part);
    };
    for_each_piece(py, format, &shape, |range, shape| {
        let piece = &mut target[range];
        if format.rounds_alone() {
            let parts = piece.chunks_mut(BLOCK);
            parts.for_each(|part| round(&[part.len()], part));
        } else {
            round(shape, piece);
        }
    })
}

/// Calls a function for pieces of an array that a format rounds apart, with their places and shapes, and looks for Ctrl-C between
/// them.
fn for_each_piece(
    py: Python,
    format: &::format::Format,
    shape: &[usize],
    mut call: impl FnMut(Range<usize>, &[usize]) + Send,
) -> PyResult<()> {
    let len: usize = shape.iter().product();
    let together = together(format, shape);
    let step = (PIECE / together.max(1)).max(1) * together.max(1);
    for start in (0..len).step_by(step) {
        let range = start..len.min(start + step);
        let piece = match shape {
            _ if format.rounds_alone() => vec![range.len()],
            [_, axes @ ..] if together < len => [&[range.len() / together], axes].concat(),
            whole => whole.to_vec(),
        };
        py.detach(|| call(range, &piece));
        py.check_signals()?;
    }
    Ok(())
}
