//! An array in the codes of a format.

use crate::arrays::{give, shape_text};
use format::Scale;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

/// An array in the codes of a format: `codes` has the code of every element, `scales` what blocks of them share.
#[pyclass(frozen, module = "mase")]
pub struct Codes {
    /// The codes.
    pub codes: format::Codes,
    /// The axes of the array.
    pub shape: Vec<usize>,
}

#[pymethods]
impl Codes {
    /// Bits of one code.
    #[getter]
    fn width(&self) -> u32 {
        self.codes.width
    }

    /// The axes of the array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.shape)
    }

    /// The code of every element, in an array of uint64.
    #[getter]
    fn codes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
        let codes = py.detach(|| {
            let codes = (0..self.codes.len).map(|index| self.codes.get(index));
            codes.collect()
        });
        give(py, codes, &self.shape)
    }

    /// The factor that each block shares, in row-major order of the blocks; empty where elements stand alone.
    #[getter]
    fn scales(&self) -> Vec<f64> {
        let factor = |scale: &Scale| match scale {
            Scale::Exponent(exponent) => f64::from(*exponent).exp2(),
            other => other.factor(),
        };
        self.codes.shared.iter().map(factor).collect()
    }

    /// The codes packed without gaps, lowest bit first.
    #[getter]
    fn bits(&self) -> Vec<u8> {
        let bytes = (self.codes.len * self.codes.width as usize).div_ceil(8);
        let words = self.codes.bits.iter();
        let mut all: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        all.truncate(bytes);
        all
    }

    fn __len__(&self) -> usize {
        self.codes.len
    }

    fn __repr__(&self) -> String {
        format!(
            "<mase.Codes {} of {} bits>",
            shape_text(&self.shape),
            self.codes.width
        )
    }
}
