//! Pruning masks: tensors of zeros and ones on the ports of a node.
//!
//! A parameter's mask has the parameter's shape, and the parameter is zero where its mask is. The mask of a data input
//! has the shape of one sample, that is of the axes after the first, and the value is multiplied by it before it is
//! rounded. Results have no masks: the input that reads them does.

use crate::{DType, Node, ParamRole, Shape, Tensor, Type};

/// The share of elements at a port that its mask keeps; 1 without a mask.
///
/// ```
/// use ir::{Node, Tensor, density, ops::activation::Relu};
/// let mut relu = Node::new("relu", "", Relu::default(), &[]);
/// assert_eq!(density(&relu, "data_in_0"), 1.0);
/// relu.masks.insert("data_in_0".to_owned(), Tensor::new(vec![4], vec![1.0, 0.0, 1.0, 1.0]).unwrap());
/// assert_eq!(density(&relu, "data_in_0"), 0.75);
/// ```
pub fn density(node: &Node, port: &str) -> f64 {
    node.masks
        .get(port)
        .map_or(1.0, |mask| 1.0 - sparsity(mask))
}

/// The share of zeros in a tensor; 0 when it is empty.
pub fn sparsity(tensor: &Tensor) -> f64 {
    let zeros = tensor.values().iter().filter(|v| **v == 0.0).count();
    zeros as f64 / tensor.values().len().max(1) as f64
}

impl Node {
    /// Masks a port; a parameter becomes zero where the mask is.
    pub fn set_mask(&mut self, port: &str, mask: Tensor) {
        if let Some(param) = self.params.get_mut(port) {
            zero_masked(param, &mask);
        }
        self.masks.insert(port.to_owned(), mask);
    }

    /// The dotted name of a mask, as PyTorch has it: `seq_blocks.2.weight_mask`, `seq_blocks.2.data_in_0_mask`.
    pub fn mask_path(&self, port: &str) -> String {
        format!("{}_mask", self.param_path(port))
    }
}

/// Zero wherever the mask is zero, also in place of what is not a number.
pub(crate) fn zero_masked(tensor: &mut Tensor, mask: &Tensor) {
    for (value, &keep) in tensor.values_mut().iter_mut().zip(mask.values()) {
        if keep == 0.0 {
            *value = 0.0;
        }
    }
}

/// Everything wrong with the masks of a node whose inputs have these types, as far as they are known.
pub(crate) fn problems(node: &Node, inputs: Option<&[Type]>) -> Vec<String> {
    let of_port = |(port, mask): (&String, &Tensor)| {
        let problem =
            wrong_place(node, port, mask, inputs).or_else(|| wrong_value(node, port, mask));
        Some(format!("{port}: {}", problem?))
    };
    node.masks.iter().filter_map(of_port).collect()
}

fn wrong_place(node: &Node, port: &str, mask: &Tensor, inputs: Option<&[Type]>) -> Option<String> {
    match port_shape(node, port, inputs) {
        Err(why) => Some(format!("has a mask, but {why}")),
        Ok(Some(expected)) if expected != mask.shape() => {
            let got = mask.shape();
            Some(format!(
                "expected a mask of shape {expected:?}, got {got:?}"
            ))
        }
        Ok(_) => None,
    }
}

/// The shape that the mask of a port has, when it is known.
fn port_shape(
    node: &Node,
    port: &str,
    inputs: Option<&[Type]>,
) -> Result<Option<Vec<usize>>, String> {
    if let Some((_, shape, _, role)) = node.param_specs().into_iter().find(|spec| spec.0 == port) {
        return match role {
            ParamRole::Trained => Ok(Some(shape)),
            ParamRole::Buffer => Err("is updated by the operator".to_owned()),
        };
    }
    let Some(k) = node.data_ports().iter().position(|name| name == port) else {
        return Err("there is no such input or parameter".to_owned());
    };
    let Some(ty) = inputs.and_then(|types| types.get(k)) else {
        return Ok(None);
    };
    if ty.dtype != DType::F32 {
        return Err(format!("holds {} instead of f32", ty.dtype));
    }
    let no_sample = || format!("one sample of {ty} has no fixed shape");
    ty.shape.sample().map(Some).ok_or_else(no_sample)
}

fn wrong_value(node: &Node, port: &str, mask: &Tensor) -> Option<String> {
    if let Some(at) = mask.values().iter().position(|v| *v != 0.0 && *v != 1.0) {
        let (index, value) = (unravel(at, mask.shape()), mask.values()[at]);
        return Some(format!("the mask at {index:?} is {value}, neither 0 nor 1"));
    }
    if let Some(format) = node.formats.get(port).filter(|format| !format.has_zero()) {
        return Some(format!("has a mask, but its format {format} has no zero"));
    }
    let param = node
        .params
        .get(port)
        .filter(|p| p.shape() == mask.shape())?;
    let mut pairs = param.values().iter().zip(mask.values());
    let at = pairs.position(|(value, keep)| *keep == 0.0 && *value != 0.0)?;
    let (index, value) = (unravel(at, mask.shape()), param.values()[at]);
    Some(format!(
        "the value at {index:?} is {value}, but its mask is 0"
    ))
}

/// The index of an element by axis.
pub(crate) fn unravel(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (place, &size) in index.iter_mut().zip(shape).rev() {
        *place = at % size;
        at /= size;
    }
    index
}

impl Shape {
    /// The shape of one sample: the axes after the first. `None` when there is no first axis or another one depends
    /// on the batch.
    pub fn sample(&self) -> Option<Vec<usize>> {
        let (_, sample) = self.0.split_first()?;
        sample.iter().map(crate::Dim::fixed).collect()
    }
}
