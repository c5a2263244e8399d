//! Types of values as files state them.

use crate::constant::BATCH;
use interop::onnx::Element;
use interop::onnx::proto::tensor_shape_proto::dimension::Value as Size;
use interop::onnx::proto::type_proto::Value as Kind;
use interop::onnx::proto::{TypeProto, ValueInfoProto};
use ir::{DType, Dim, Shape, Type};

/// The type of elements of this kind in a graph.
pub fn dtype(element: Element) -> Option<DType> {
    match element {
        Element::Bool => Some(DType::Bool),
        Element::F32 | Element::F16 | Element::F64 | Element::BF16 => Some(DType::F32),
        element if element.is_integer() => Some(DType::I64),
        _ => None,
    }
}

/// The element type that a file states for a value.
pub fn element_of(info: &ValueInfoProto) -> Option<Element> {
    match info.r#type.as_ref()?.value.as_ref()? {
        Kind::TensorType(tensor) => Element::of_code(tensor.elem_type()),
        _ => None,
    }
}

/// The size that a file gives the first axis of a value; `None` when it is free.
pub fn first_size(info: &ValueInfoProto) -> Option<usize> {
    let Kind::TensorType(tensor) = info.r#type.as_ref()?.value.as_ref()? else {
        return None;
    };
    match tensor.shape.as_ref()?.dim.first()?.value.as_ref()? {
        Size::DimValue(size @ 1..) => usize::try_from(*size).ok(),
        _ => None,
    }
}

/// The type of a value; free axes other than the first are refused, and the first is the batch.
pub fn of_value(info: &ValueInfoProto, batch_axis: bool) -> Result<(Type, Element), String> {
    let proto = info.r#type.as_ref().ok_or("the file states no type")?;
    let tensor = match proto {
        TypeProto {
            value: Some(Kind::TensorType(tensor)),
            ..
        } => tensor,
        TypeProto { value: Some(_), .. } => {
            return Err("is not a tensor; sequences, maps and optionals are not read".into());
        }
        TypeProto { value: None, .. } => return Err("the file states no type".into()),
    };
    let code = tensor.elem_type();
    let element =
        Element::of_code(code).ok_or_else(|| format!("has the unknown element type {code}"))?;
    let dtype = dtype(element).ok_or_else(|| {
        format!(
            "has elements of {}, which no value has here",
            element.name()
        )
    })?;
    let shape = tensor.shape.as_ref().ok_or("the file states no shape")?;
    let dims = shape.dim.iter().enumerate().map(|(axis, dim)| match &dim.value {
        Some(Size::DimValue(1..)) if axis == 0 && batch_axis => Ok(Dim::symbol(BATCH)),
        Some(Size::DimValue(size @ 1..)) => Ok(Dim::from(*size as usize)),
        Some(Size::DimValue(0)) => Err(format!("axis {axis} is empty")),
        // Some programs write -1 for a free axis; anything else that is negative is a mistake.
        Some(Size::DimValue(size @ ..=-2)) => Err(format!("axis {axis} has the size {size}")),
        _ if axis == 0 => Ok(Dim::symbol(BATCH)),
        Some(Size::DimParam(name)) => Err(format!(
            "axis {axis} ('{name}') is free; only the first can be: export the network with a fixed size there"
        )),
        Some(Size::DimValue(size)) => Err(format!("axis {axis} has the size {size}")),
        None => Err(format!(
            "axis {axis} is free; only the first can be: export the network with a fixed size there"
        )),
    });
    let shape = Shape(dims.collect::<Result<_, _>>()?);
    Ok((Type { shape, dtype }, element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Element::{BF16, Bool, Complex64, F8E4M3, F16, F32, F64, I2, I8, I64, Text, U2, U8, U64};

    #[test]
    fn elements_have_the_type_that_a_graph_has_for_them() {
        for (elements, expected) in [
            (&[F32, F16, F64, BF16][..], Some(DType::F32)),
            (&[I64, I8, I2, U64, U8, U2], Some(DType::I64)),
            (&[Bool], Some(DType::Bool)),
            (&[Text, Complex64, F8E4M3], None),
        ] {
            for &element in elements {
                assert_eq!(dtype(element), expected, "{element:?}");
            }
        }
    }
}
