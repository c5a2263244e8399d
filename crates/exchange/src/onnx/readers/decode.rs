//! Scales and zero points among the inputs of a node, and the numbers that codes mean by them.

use crate::constant::{self, Refusal};
use crate::onnx::call::Call;
use crate::onnx::grid::{Blocks, Grid, GridKind};
use crate::onnx::import::Source;
use interop::onnx::Element;
use ir::DType;

/// The formats of small floats.
const FLOATS: [(Element, &str); 5] = [
    (Element::F8E4M3, "float8(e4m3fn)"),
    (Element::F8E4M3Uz, "float8(e4m3fnuz)"),
    (Element::F8E5M2, "float8(e5m2)"),
    (Element::F8E5M2Uz, "float8(e5m2fnuz)"),
    (Element::F4E2M1, "float4(e2m1)"),
];

/// The ending that ONNX Runtime's quantiser gives the name of a tensor whose codes it stores.
pub const CODES_SUFFIX: &str = "_quantized";

/// The inputs of a node that hold codes, their scales and their zero points.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The codes.
    pub codes: usize,
    /// The scales; `None` for scales of 1.
    pub scale: Option<usize>,
    /// The zero points.
    pub zero: usize,
    /// The axis along which scales lie, where there are several.
    pub axis: i64,
    /// Neighbours along the axis that share a scale; 0 for a scale each.
    pub block: i64,
}

impl Places {
    /// The grid of codes of a type.
    pub fn grid(self, call: &Call, element: Element) -> Result<Grid, Refusal> {
        let (mut scales, shape) = match self.scale {
            Some(index) => floats(call, index, "scales")?,
            None => (vec![1.0], Vec::new()),
        };
        let (mut zeros, _) = if call.has(self.zero) {
            floats(call, self.zero, "zero points")?
        } else {
            (vec![0.0], Vec::new())
        };
        let n_places = scales.len().max(zeros.len());
        for list in [&mut scales, &mut zeros] {
            if let [one] = list[..] {
                *list = vec![one; n_places];
            }
        }
        if scales.len() != n_places || zeros.len() != n_places {
            let (a, b) = (scales.len(), zeros.len());
            return Err(Refusal::new(format!(
                "it has {a} scales and {b} zero points"
            )));
        }
        let (axis, blocks) = self.layout(call, n_places, shape)?;
        let float = FLOATS.iter().find(|row| row.0 == element);
        let kind = match (float, element.integer_range()) {
            (Some((_, text)), _) => GridKind::Floats((*text).to_owned()),
            (None, Some(_)) => GridKind::Integers,
            (None, None) => {
                let name = element.name();
                return Err(Refusal::new(format!("codes of {name} are not read")));
            }
        };
        Ok(Grid {
            width: element.bits() as u32,
            signed: element.integer_range().is_none_or(|(min, _)| min < 0),
            narrow: false,
            rounding: "half_even",
            before: false,
            scales,
            zeros,
            axis,
            blocks,
            kind,
        })
    }

    /// The axis along which places lie, and the blocks along it.
    fn layout(
        self,
        call: &Call,
        n_places: usize,
        shape: Vec<usize>,
    ) -> Result<(Option<usize>, Option<Blocks>), Refusal> {
        let dims = call.ty(self.codes)?.shape.0;
        let misfit = || Refusal::new(format!("its {n_places} scales do not fit its input"));
        if self.block != 0 {
            let size = usize::try_from(self.block).map_err(|_| misfit())?;
            let axis = call.axis(self.codes, self.axis)?;
            let fits = dims.len() == shape.len()
                && dims.iter().zip(&shape).enumerate().all(|(at, (dim, &n))| {
                    let wanted = dim
                        .fixed()
                        .map(|dim| if at == axis { dim.div_ceil(size) } else { dim });
                    wanted == Some(n)
                });
            if !fits {
                return Err(misfit());
            }
            return Ok((Some(axis), Some(Blocks { size, shape })));
        }
        if n_places == 1 {
            return Ok((None, None));
        }
        let axis = call.axis(self.codes, self.axis)?;
        let is_list = shape.iter().filter(|&&size| size != 1).count() <= 1;
        if !is_list || dims[axis].fixed() != Some(n_places) {
            return Err(misfit());
        }
        Ok((Some(axis), None))
    }
}

/// The numbers of an input that must be known, and their axes.
fn floats(call: &Call, index: usize, what: &str) -> Result<(Vec<f32>, Vec<usize>), Refusal> {
    call.source(index)?;
    let array = call.known(index);
    let array = array.ok_or_else(|| Refusal::new(format!("its {what} are computed")))?;
    let values = constant::cast(array, DType::F32)?;
    let values = values.floats().unwrap_or_default().to_vec();
    if values.is_empty() {
        return Err(Refusal::new(format!("its {what} are empty")));
    }
    Ok((values, array.shape.clone()))
}

/// The numbers that codes mean: a rounded value, a parameter with its format, or integers less their zero point times their
/// scale.
pub fn decode(call: &mut Call, index: usize, grid: &Grid) -> Result<Source, Refusal> {
    let name = call.name.clone();
    let value = match call.source(index)?.clone() {
        Source::Known { array, path, .. } => return known(&array, &path, grid),
        Source::Codes {
            value, grid: own, ..
        } if own.scales == grid.scales && own.zeros == grid.zeros && own.axis == grid.axis => {
            call.importer.round(&name, value, &own)?
        }
        Source::Codes { .. } | Source::Value { .. } => {
            let codes = call.value(index)?;
            call.importer.decode(&name, codes, grid)?
        }
    };
    Ok(call.importer.result(value, Element::F32))
}

/// A stored tensor by its values, with the grid they lie on where a format has it.
fn known(array: &constant::Array, path: &str, grid: &Grid) -> Result<Source, Refusal> {
    let path = path.strip_suffix(CODES_SUFFIX).unwrap_or(path).to_owned();
    // Sums of products have 32 bits, which are more than a float rounds to.
    let has_format = grid.width <= 16 && !grid.is_scaled_float();
    Ok(Source::Known {
        array: grid.decode(array)?,
        element: Element::F32,
        path,
        grid: has_format.then(|| grid.clone()),
    })
}
