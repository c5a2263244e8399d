//! The results as a table for people.

use super::Found;
use ir::Graph;
use report::Table;
use serde_json::Value as Json;

/// Numbers of a list that are shown.
const SHOWN: usize = 4;

/// A row for every field.
pub(super) fn table(graph: &Graph, found: &[Found]) -> Table {
    let mut table = Table::new(&["Node name", "Port", "Statistic", "Field", "Value"]);
    for found in found {
        let node = &graph.node(found.port.node).name;
        for (field, value) in &found.fields {
            let value = text(value);
            table.push([node, &found.port.port, found.statistic, field, &value]);
        }
    }
    table
}

/// A number, or the first numbers of lists in lists.
fn text(value: &Json) -> String {
    let mut numbers = Vec::new();
    flatten(value, &mut numbers);
    match (value, numbers.as_slice()) {
        (Json::Array(_), [shown @ .., _] | shown) if numbers.len() > SHOWN => {
            format!("[{}, …]", shown.join(", "))
        }
        (Json::Array(_), _) => format!("[{}]", numbers.join(", ")),
        _ => numbers.concat(),
    }
}

/// Up to one number more than is shown.
fn flatten(value: &Json, numbers: &mut Vec<String>) {
    match value {
        Json::Array(items) => {
            for item in items {
                if numbers.len() > SHOWN {
                    return;
                }
                flatten(item, numbers);
            }
        }
        Json::Number(number) if number.is_f64() => numbers.push(short(number.as_f64())),
        Json::Null => numbers.push("NA".to_owned()),
        other => numbers.push(other.to_string()),
    }
}

/// Six digits, with an exponent where they would be zeros.
fn short(number: Option<f64>) -> String {
    match number.unwrap_or(f64::NAN) {
        0.0 => "0".to_owned(),
        x if (1e-4..1e6).contains(&x.abs()) => format!("{x:.6}"),
        x => format!("{x:.6e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_lists_show_their_first_numbers() {
        struct Case {
            value: Json,
            shown: &'static str,
        }
        let cases = [
            Case {
                value: json!(512),
                shown: "512",
            },
            Case {
                value: json!(0.0),
                shown: "0",
            },
            Case {
                value: json!(-1.5),
                shown: "-1.500000",
            },
            Case {
                value: json!(1.25e-7),
                shown: "1.250000e-7",
            },
            Case {
                value: json!(null),
                shown: "NA",
            },
            Case {
                value: json!([1, 2, 3, 4]),
                shown: "[1, 2, 3, 4]",
            },
            Case {
                value: json!([[1, 2], [3, 4], [5, 6]]),
                shown: "[1, 2, 3, 4, …]",
            },
        ];
        for case in cases {
            assert_eq!(text(&case.value), case.shown);
        }
    }
}
