//! A folder of emitted hardware, as the commands that simulate and synthesise it open it.

use crate::net::Net;
use crate::ports::{Element, Ports};
use crate::print::legal_nodes;
use crate::tools::ToolError;
use crate::vectors::Vectors;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with `rtl/net.sv` and `ports.json`.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The folder, as an absolute path: tools run in other folders.
    pub path: PathBuf,
    /// Its ports.
    pub ports: Ports,
}

/// The part of `net.json` that names layers.
#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<String>,
}

impl Emitted {
    /// Opens a folder and checks its ports.
    pub fn open(path: &Path) -> Result<Self, ToolError> {
        if !path.is_dir() {
            return Err(ToolError::file(
                path,
                "is no folder; `ch emit --out` makes one",
            ));
        }
        let ports = path.join("ports.json");
        for file in [&ports, &path.join("rtl/net.sv")] {
            if !file.is_file() {
                return Err(missing(file));
            }
        }
        let text = read(&ports)?;
        let parsed = parse_ports(&text).map_err(|problem| damaged(&ports, &problem))?;
        let path = path
            .canonicalize()
            .map_err(|error| ToolError::file(path, &error))?;
        Ok(Self {
            path,
            ports: parsed,
        })
    }

    /// The network's module.
    pub fn net(&self) -> PathBuf {
        self.path.join("rtl/net.sv")
    }

    /// The netlist of the folder, `net.json`.
    pub fn netlist(&self) -> Result<Net, ToolError> {
        let path = self.path.join("net.json");
        if !path.is_file() {
            return Err(missing(&path));
        }
        let net = Net::from_json(&read(&path)?, Some(self.ports.inputs.len()));
        net.map_err(|error| damaged(&path, &error.to_string()))
    }

    /// The nodes of the graph as they stand in names of signals; none where there is no `net.json`.
    pub fn nodes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path.join("net.json"));
        let nodes: Option<Nodes> = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        nodes.map_or_else(Vec::new, |net| legal_nodes(&net.nodes))
    }

    /// A file of the folder, its folders made.
    pub fn file(&self, name: &str) -> Result<PathBuf, ToolError> {
        let path = self.path.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| ToolError::file(folder, &error))?;
        }
        Ok(path)
    }

    /// Writes a file of the folder, whole or not at all.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, ToolError> {
        let path = self.file(name)?;
        write(&path, text)?;
        Ok(path)
    }

    /// The inputs and the expected outputs, at most `rows` of them.
    pub fn vectors(&self, rows: Option<usize>) -> Result<(Vectors, Vectors), ToolError> {
        let read = |name: &str, elements: &[Element]| {
            let path = self.path.join(name);
            if !path.is_file() {
                return Err(missing(&path));
            }
            let vectors = Vectors::read(&path, elements)?;
            Ok::<_, ToolError>(rows.map_or(vectors.clone(), |rows| vectors.truncated(rows)))
        };
        let x = read("tb/x.bin", &self.ports.inputs)?;
        let y = read("tb/y.bin", &self.ports.outputs)?;
        if x.len() != y.len() {
            let message = format!("has {} rows, but tb/x.bin {}", y.len(), x.len());
            return Err(ToolError::file(self.path.join("tb/y.bin"), &message));
        }
        if x.is_empty() {
            return Err(ToolError::file(self.path.join("tb/x.bin"), "has no rows"));
        }
        Ok((x, y))
    }
}

/// The error of a file that should be in the folder.
fn missing(path: &Path) -> ToolError {
    ToolError::file(path, "is not there; `ch emit` writes it")
}

/// The error of a file that is not as it was written.
fn damaged(path: &Path, problem: &str) -> ToolError {
    let message = format!("cannot be read: {problem}; `ch emit` writes it anew");
    ToolError::file(path, &message)
}

/// Reads a text file.
pub fn read(path: &Path) -> Result<String, ToolError> {
    fs::read_to_string(path).map_err(|error| ToolError::file(path, &error))
}

/// Writes a text file, whole or not at all.
pub fn write(path: &Path, text: &str) -> Result<(), ToolError> {
    interop::write_file(path, text.as_bytes()).map_err(|error| ToolError::file(path, &error))
}

/// The ports of a file, checked: elements lie one after the other, and each holds its interval.
pub fn parse_ports(text: &str) -> Result<Ports, String> {
    let ports: Ports = serde_json::from_str(text).map_err(|error| error.to_string())?;
    check(&ports)?;
    Ok(ports)
}

/// Elements lie one after the other, and each holds its interval.
fn check(ports: &Ports) -> Result<(), String> {
    if ports.latency > MAX_LATENCY {
        return Err(format!(
            "a latency of {} cycles is above {MAX_LATENCY}",
            ports.latency
        ));
    }
    for (port, elements) in [("inputs", &ports.inputs), ("outputs", &ports.outputs)] {
        if elements.is_empty() || elements.len() > usize::from(u16::MAX) {
            return Err(format!(
                "{port}: {} elements, not 1 to {}",
                elements.len(),
                u16::MAX
            ));
        }
        let mut offset = 0;
        for element in elements {
            check_element(element, offset)
                .map_err(|message| format!("{port}: {}: {message}", element.name))?;
            offset += element.width;
        }
    }
    Ok(())
}

/// Cycles of the deepest pipeline that a wrapper is printed for.
const MAX_LATENCY: u32 = 4096;

fn check_element(element: &Element, offset: u32) -> Result<(), String> {
    let Element {
        name,
        width,
        signed,
        min,
        max,
        ..
    } = element;
    if name.is_empty()
        || name.contains(|c: char| c.is_control() || c == '"' || c == '\\' || c == '%')
    {
        return Err("its name cannot stand in a message of a testbench".to_owned());
    }
    if element.offset != offset {
        return Err(format!(
            "its offset is {}, but the elements below it end at {offset}",
            element.offset
        ));
    }
    if *width > 64 {
        return Err(format!("a width of {width} is above 64"));
    }
    let (lowest, highest) = match (*width, *signed) {
        (0, _) => (0, 0),
        (width, false) => (0, i128::MAX >> (127 - width)),
        (width, true) => (-1 << (width - 1), i128::MAX >> (128 - width)),
    };
    if min > max || i128::from(*min) < lowest || i128::from(*max) > highest {
        let sign = if *signed { "signed" } else { "unsigned" };
        return Err(format!(
            "{min} to {max} is no interval of {width} {sign} bits"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::packed;

    fn ports() -> Ports {
        let one = |name: &str, min, max| {
            packed([
                (format!("{name}[0]"), 0, min, max),
                (format!("{name}[1]"), 0, 0, 1),
            ])
        };
        Ports {
            inputs: one("x", -8, 7),
            outputs: one("y", i64::MIN, i64::MAX),
            latency: 0,
        }
    }

    #[test]
    fn defects_of_ports_are_named() {
        assert_eq!(check(&ports()), Ok(()));
        let broken = |change: &dyn Fn(&mut Ports)| {
            let mut ports = ports();
            change(&mut ports);
            check(&ports).unwrap_err()
        };
        assert_eq!(
            broken(&|p| p.inputs.clear()),
            "inputs: 0 elements, not 1 to 65535"
        );
        assert_eq!(
            broken(&|p| p.inputs[1].offset = 3),
            "inputs: x[1]: its offset is 3, but the elements below it end at 4"
        );
        assert_eq!(
            broken(&|p| p.inputs[0].min = -9),
            "inputs: x[0]: -9 to 7 is no interval of 4 signed bits"
        );
        assert_eq!(
            broken(&|p| p.outputs[1].max = 2),
            "outputs: y[1]: 0 to 2 is no interval of 1 unsigned bits"
        );
        assert_eq!(
            broken(&|p| p.outputs[0].width = 65),
            "outputs: y[0]: a width of 65 is above 64"
        );
        assert_eq!(
            broken(&|p| p.latency = 5000),
            "a latency of 5000 cycles is above 4096"
        );
        let error = broken(&|p| p.inputs[0].name = "\"; $system(0);".to_owned());
        assert!(
            error.ends_with("cannot stand in a message of a testbench"),
            "{error}"
        );
    }

    #[test]
    fn a_path_that_is_no_folder_of_hardware_is_named() {
        let error = Emitted::open(Path::new("/no/such"))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "/no/such: is no folder; `ch emit --out` makes one");
    }
}
