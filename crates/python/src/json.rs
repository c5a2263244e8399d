//! JSON from and to Python values.

use crate::errors::wrong_type;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value as Json};

/// A JSON value as Python has it.
pub fn to_python<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    match json {
        Json::Null => Ok(py.None().into_bound(py)),
        Json::Bool(flag) => flag.into_bound_py_any(py),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_bound_py_any(py),
            None => number.as_f64().into_bound_py_any(py),
        },
        Json::String(text) => text.into_bound_py_any(py),
        Json::Array(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| to_python(py, item)).collect();
            PyList::new(py, items?)?.into_bound_py_any(py)
        }
        Json::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_bound_py_any(py)
        }
    }
}

/// A Python value as JSON; `name` is what an error calls it.
pub fn of_python(name: &str, value: &Bound<PyAny>) -> PyResult<Json> {
    if value.is_none() {
        return Ok(Json::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Json::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let whole: i64 = value.extract()?;
        return Ok(whole.into());
    }
    if value.is_instance_of::<PyFloat>() {
        let number = Number::from_f64(value.extract()?);
        return number
            .map(Json::Number)
            .ok_or_else(|| wrong_type(format!("{name}: {value} is not a finite number")));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Json::String(value.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(Json::Object(of_dict(name, dict)?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| of_python(name, &item?));
        return items.collect::<PyResult<Vec<_>>>().map(Json::Array);
    }
    if value.hasattr("__fspath__")? {
        let path = value.call_method0("__fspath__")?;
        return Ok(Json::String(path.extract()?));
    }
    // A number of NumPy.
    if value.hasattr("item")? {
        return of_python(name, &value.call_method0("item")?);
    }
    let class = value.get_type().name()?;
    Err(wrong_type(format!(
        "{name}: expected a number, a text, a list or a dict, got {class}"
    )))
}

/// A dict with names as keys; `name` is what an error calls it.
pub fn of_dict(name: &str, dict: &Bound<PyDict>) -> PyResult<Map<String, Json>> {
    let entry = |(key, value): (Bound<PyAny>, Bound<PyAny>)| {
        let Ok(key) = key.extract::<String>() else {
            return Err(wrong_type(format!("{name}: the key {key} is no text")));
        };
        let json = of_python(&key, &value)?;
        Ok((key, json))
    };
    dict.iter().map(entry).collect()
}

/// Keyword arguments; none are an empty map.
pub fn of_keywords(keywords: Option<&Bound<PyDict>>) -> PyResult<Map<String, Json>> {
    keywords.map_or_else(|| Ok(Map::new()), |dict| of_dict("keywords", dict))
}
