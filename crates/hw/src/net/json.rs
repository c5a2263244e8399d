//! `net.json`: the netlist, a line for each operation.

use super::{Cell, Net, NetError};
use serde_json::{Value as Json, json};

impl Net {
    /// The text of `net.json`.
    pub fn to_json(&self) -> String {
        let line = |cell: &Cell| serde_json::to_string(cell).unwrap_or_default();
        let cells: Vec<String> = self
            .cells
            .iter()
            .map(|cell| format!("    {}", line(cell)))
            .collect();
        format!(
            "{{\n  \"version\": 1,\n  \"latency\": {},\n  \"nodes\": {},\n  \"outputs\": {},\n  \"marks\": {},\n  \"cells\": [\n{}\n  ]\n}}\n",
            self.latency,
            json!(self.nodes),
            json!(self.outputs),
            json!(self.marks),
            cells.join(",\n")
        )
    }

    /// The netlist of such a text, whose rules are checked; without a number of inputs, as many as it reads.
    pub fn from_json(text: &str, n_inputs: Option<usize>) -> Result<Self, NetError> {
        let refused = |problem: String| NetError {
            cell: None,
            problem,
        };
        let mut json: Json =
            serde_json::from_str(text).map_err(|error| refused(error.to_string()))?;
        let version = json.as_object_mut().and_then(|own| own.remove("version"));
        if version != Some(json!(1)) {
            return Err(refused(format!(
                "the version is {}, not 1",
                version.unwrap_or(Json::Null)
            )));
        }
        let net: Self = serde_json::from_value(json).map_err(|error| refused(error.to_string()))?;
        net.verify(n_inputs.unwrap_or(usize::MAX))?;
        Ok(net)
    }
}
