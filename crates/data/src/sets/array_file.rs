//! A user's own file for a network that takes integers or several inputs: `reviews.npz:label`, `tokens.npz`, `ids.npy`.
//!
//! An array of an archive feeds the placeholder of its name; a lone array feeds a lone placeholder under any name. Rows
//! are split as those of a table are, and nothing is standardised: integers name things.

use super::file;
use crate::arrays::{Arrays, InputArray, NetworkInput, listing};
use crate::dataset::{Dataset, Info, Source, Split};
use crate::error::DataError;
use crate::options::OpenOptions;
use crate::preparation::{Scaling, Standardize};
use crate::{hash, prepare};
use interop::columns::Table;
use interop::npy::{self, Numbers, Values};
use interop::npz;
use ir::DType;
use std::path::Path;
use std::sync::Arc;

/// Floats are whole numbers up to here without a gap.
const MAX_EXACT: i64 = 1 << 24;

/// Opens a file with labels and splits its rows.
pub(crate) fn open(
    name: &str,
    path: &Path,
    label: &str,
    options: &OpenOptions,
) -> Result<Dataset, DataError> {
    let content = |message| DataError::Content {
        path: path.to_owned(),
        message,
    };
    let found = if has_ending(path, "npz") {
        npz::read_arrays(path, Some(label))?
    } else {
        let (table, shape) = file::read(path, label)?;
        of_table(table, &shape, options.inputs).map_err(content)?
    };
    file::check(label, &found.classes, found.labels.len(), options.is_whole).map_err(content)?;
    let n_rows = found.labels.len();
    let inputs = select(path, found.arrays, Some((label, n_rows)), options)?;
    let arrays = Arrays {
        inputs,
        labels: found.labels,
    };
    let parts = prepare::split(n_rows);
    let mut info = info(name, path, &arrays, found.classes);
    info.hash = hash::arrays(&arrays, &parts);
    let source = Source::Arrays(Arc::new(arrays));
    Ok(prepare::divide(info, &source, &parts, options.val_split))
}

/// Opens a file of arrays without labels, an archive (`.npz`) or one array (`.npy`). All rows are in each split.
pub fn open_unlabeled(path: &Path, options: &OpenOptions) -> Result<Dataset, DataError> {
    let found = if has_ending(path, "npz") {
        npz::read_arrays(path, None)?.arrays
    } else {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        vec![(stem.into_owned(), npy::read_numbers(path)?)]
    };
    let mut inputs = select(path, found, None, options)?;
    let scaling =
        scale(&mut inputs, &options.standardize).map_err(|message| DataError::Content {
            path: path.to_owned(),
            message,
        })?;
    let n_rows = inputs
        .first()
        .map_or(0, |array| array.elements().len() / array.width().max(1));
    let arrays = Arrays {
        inputs,
        labels: vec![0; n_rows],
    };
    let mut info = info(&path.display().to_string(), path, &arrays, Vec::new());
    info.hash = hash::arrays(&arrays, &[]);
    info.scaling = scaling;
    let all = Split::of_arrays(Arc::new(arrays), (0..n_rows as u32).collect());
    Ok(Dataset {
        info,
        train: all.clone(),
        val: all.clone(),
        test: all,
    })
}

/// Standardises a lone array of floats as the rows were that a network was trained on.
fn scale(inputs: &mut [InputArray], asked: &Standardize) -> Result<Scaling, String> {
    let [only] = inputs else {
        return Ok(Scaling::None);
    };
    let width = only.width();
    let (Values::F32(values), Standardize::By(standardizer)) = (&mut only.values, asked) else {
        return Ok(Scaling::None);
    };
    if standardizer.width() != width {
        return Err(format!(
            "has {width} values a row, but the network was trained on {}",
            standardizer.width()
        ));
    }
    standardizer.apply(values);
    Ok(Scaling::Given(standardizer.clone()))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

fn info(name: &str, path: &Path, arrays: &Arrays, classes: Vec<String>) -> Info {
    let first = arrays.inputs.first();
    Info {
        name: name.to_owned(),
        sample_shape: first.map_or_else(Vec::new, |array| array.shape.clone()),
        classes,
        features: Vec::new(),
        source: path.display().to_string(),
        hash: 0,
        scaling: Scaling::None,
    }
}

/// A table as the one array of integers that a network takes.
fn of_table(table: Table, shape: &[usize], inputs: &[NetworkInput]) -> Result<npz::Arrays, String> {
    let [only] = inputs else {
        return Err(format!(
            "is one table, but the network takes {}; save an .npz file with arrays of these names",
            listing(inputs)
        ));
    };
    let is_whole = |value: f32| value.fract() == 0.0 && value.abs() <= MAX_EXACT as f32;
    if let Some(at) = table.values.iter().position(|&value| !is_whole(value)) {
        let width = table.features.len();
        return Err(format!(
            "row {}, column '{}': {} is no whole number up to 2^24, but the network takes {}",
            at / width + 1,
            table.features[at % width],
            table.values[at],
            listing(inputs)
        ));
    }
    let values = table.values.iter().map(|&value| value as i64).collect();
    let numbers = Numbers {
        shape: [&[table.labels.len()], shape].concat(),
        values: Values::I64(values),
    };
    Ok(npz::Arrays {
        arrays: vec![(only.name.clone(), numbers)],
        classes: table.classes,
        labels: table.labels,
    })
}

/// The arrays that feed the inputs of a network, in their order; all of them when it is not known. `labels` are the name and the number of labels.
fn select(
    path: &Path,
    found: Vec<(String, Numbers)>,
    labels: Option<(&str, usize)>,
    options: &OpenOptions,
) -> Result<Vec<InputArray>, DataError> {
    let content = |message| DataError::Content {
        path: path.to_owned(),
        message,
    };
    let shown = describe(&found);
    let n_rows = check_rows(&found, labels).map_err(content)?;
    let mismatch = |problem: &str| {
        content(format!(
            "{problem}: the network takes {}; the file has {shown}",
            listing(options.inputs)
        ))
    };
    if options.inputs.is_empty() {
        let own = |(name, numbers): (String, Numbers)| InputArray {
            name,
            shape: numbers.shape[1..].to_vec(),
            values: numbers.values,
        };
        return Ok(found.into_iter().map(own).collect());
    }
    if let ([only], [_]) = (options.inputs, found.as_slice()) {
        let (name, numbers) = found.into_iter().next().expect("there is one array");
        return Ok(vec![typed(&name, numbers, only).map_err(|p| mismatch(&p))?]);
    }
    let is_wanted = |name: &String| options.inputs.iter().any(|input| input.name == *name);
    if let Some((name, _)) = found.iter().find(|(name, _)| !is_wanted(name)) {
        let labels = match labels {
            Some(_) => String::new(),
            None => format!(" (labels are named as in {}:{name})", path.display()),
        };
        return Err(mismatch(&format!("array '{name}' feeds no input{labels}")));
    }
    let mut rest = found;
    let mut selected: Vec<InputArray> = Vec::new();
    for input in options.inputs {
        let at = rest.iter().position(|(name, _)| *name == input.name);
        let array = match (at, input.default) {
            (Some(at), _) => {
                let (name, numbers) = rest.swap_remove(at);
                typed(&name, numbers, input).map_err(|problem| mismatch(&problem))?
            }
            (None, Some(value)) => {
                let Some(first) = selected.first() else {
                    return Err(mismatch(&format!("there is no array '{}'", input.name)));
                };
                options.report(&format!(
                    "{} has no array '{}': it is {value} throughout",
                    path.display(),
                    input.name
                ));
                constant(input, value, n_rows, &first.shape)
            }
            (None, None) => return Err(mismatch(&format!("there is no array '{}'", input.name))),
        };
        selected.push(array);
    }
    Ok(selected)
}

/// The arrays of a file in words: `ids (i64[100, 16])`.
fn describe(found: &[(String, Numbers)]) -> String {
    let word = |(name, numbers): &(String, Numbers)| {
        let dtype = match numbers.values {
            Values::F32(_) => DType::F32,
            Values::I64(_) => DType::I64,
        };
        format!("{name} ({dtype}{:?})", numbers.shape)
    };
    let words: Vec<String> = found.iter().map(word).collect();
    if words.is_empty() {
        "no arrays".to_owned()
    } else {
        words.join(", ")
    }
}

/// The number of rows, if all arrays and the labels have the same one.
fn check_rows(found: &[(String, Numbers)], labels: Option<(&str, usize)>) -> Result<usize, String> {
    let mut counts = labels.into_iter().chain(found.iter().map(|(name, array)| {
        let count = array.shape.first().copied().unwrap_or(0);
        (name.as_str(), count)
    }));
    let Some((first, n_rows)) = counts.next() else {
        return Err("has no arrays".to_owned());
    };
    if let Some((other, count)) = counts.find(|&(_, count)| count != n_rows) {
        return Err(format!(
            "array '{other}' has {count} rows, but '{first}' has {n_rows}; a row is the same sample in all of them"
        ));
    }
    if n_rows == 0 {
        return Err("has no rows".to_owned());
    }
    Ok(n_rows)
}

/// An array in the type of an input: integers may become floats, but not the other way round.
fn typed(name: &str, numbers: Numbers, input: &NetworkInput) -> Result<InputArray, String> {
    let values = match (numbers.values, input.dtype) {
        (values @ Values::I64(_), DType::I64)
        | (values @ Values::F32(_), DType::F32 | DType::Bool) => values,
        (Values::I64(values), DType::F32 | DType::Bool) => Values::F32(floats(name, &values)?),
        (Values::F32(_), DType::I64) => {
            return Err(format!(
                "array '{name}' has floats where integers are taken"
            ));
        }
    };
    Ok(InputArray {
        name: name.to_owned(),
        shape: numbers.shape[1..].to_vec(),
        values,
    })
}

fn floats(name: &str, values: &[i64]) -> Result<Vec<f32>, String> {
    let convert = |&value: &i64| {
        if value.abs_diff(0) > MAX_EXACT.unsigned_abs() {
            return Err(format!(
                "array '{name}' has {value}, which float32 cannot hold"
            ));
        }
        Ok(value as f32)
    };
    values.iter().map(convert).collect()
}

/// An input that the file leaves out, of the shape of the first one.
fn constant(input: &NetworkInput, value: i64, n_rows: usize, shape: &[usize]) -> InputArray {
    let count = n_rows * shape.iter().product::<usize>();
    let values = match input.dtype {
        DType::I64 => Values::I64(vec![value; count]),
        DType::F32 | DType::Bool => Values::F32(vec![value as f32; count]),
    };
    InputArray {
        name: input.name.clone(),
        shape: shape.to_vec(),
        values,
    }
}
