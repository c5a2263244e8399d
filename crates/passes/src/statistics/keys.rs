//! Keys that several statistics have.

use super::Dims;
use config::{Item, Reader, Table, Value};

/// `dims`. Only here `"NA"` is a value of its own, so it is looked up in the table itself.
pub(super) fn dims(reader: &mut Reader, table: &Table) -> Dims {
    // The original's files name the device of a tensor, which is always this machine here.
    reader.item("device");
    reader.item("dims");
    let Some((_, item)) = table.get("dims") else {
        return Dims::All;
    };
    match &item.value {
        Value::Text(word) if word == "all" => Dims::All,
        _ if item.is_none() => Dims::PerElement,
        Value::List(items) => {
            let axes: Vec<Option<usize>> = items.iter().map(|item| axis(reader, item)).collect();
            axes.into_iter()
                .collect::<Option<_>>()
                .map_or(Dims::All, Dims::Axes)
        }
        other => {
            let message = format!("dims: {other} is not \"all\", \"NA\" or a list of axes");
            reader.problem(item.span.clone(), message);
            Dims::All
        }
    }
}

fn axis(reader: &mut Reader, item: &Item) -> Option<usize> {
    let axis = match item.value {
        Value::Int(axis) => usize::try_from(axis).ok(),
        _ => None,
    };
    if axis.is_none() {
        let message = format!("dims: {} is not an axis: 0, 1, 2 …", item.value);
        reader.problem(item.span.clone(), message);
    }
    axis
}

/// `abs`.
pub(super) fn abs(reader: &mut Reader) -> bool {
    reader.flag("abs").unwrap_or(false)
}
