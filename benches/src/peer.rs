//! The Python side: one process that runs PyTorch or another library on request and answers with the seconds it took.

use crate::clock::Spent;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A Python program of the other side and the environment that it needs.
struct Program {
    /// The file in `peer/`.
    script: &'static str,
    /// The variable that names a Python to take instead.
    variable: &'static str,
    /// The folder of the environment in this package, and what `setup.sh` calls it.
    environment: &'static str,
}

const PYTORCH: Program = Program {
    script: "peer.py",
    variable: "BENCH_PYTHON",
    environment: ".venv",
};
const ONNX: Program = Program {
    script: "onnx_peer.py",
    variable: "BENCH_ONNX_PYTHON",
    environment: ".venv-onnx",
};
const JAX: Program = Program {
    script: "jax_peer.py",
    variable: "BENCH_JAX_PYTHON",
    environment: ".venv-jax",
};
const BREVITAS: Program = Program {
    script: "brevitas_peer.py",
    variable: "BENCH_BREVITAS_PYTHON",
    environment: ".venv-brevitas",
};

const DA4ML: Program = Program {
    script: "da4ml_peer.py",
    variable: "BENCH_DA4ML_PYTHON",
    environment: ".venv-da4ml",
};

/// A running program of the other side.
pub struct Peer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts PyTorch's side, after installing what it needs if it was never installed.
    pub fn start(threads: usize) -> Result<Self> {
        Self::run(&PYTORCH, threads)
    }

    /// Starts ONNX Runtime's side, likewise.
    pub fn onnx(threads: usize) -> Result<Self> {
        Self::run(&ONNX, threads)
    }

    /// Starts JAX's side, likewise.
    pub fn jax(threads: usize) -> Result<Self> {
        Self::run(&JAX, threads)
    }

    /// Starts Brevitas's side, likewise.
    pub fn brevitas(threads: usize) -> Result<Self> {
        Self::run(&BREVITAS, threads)
    }

    /// Starts the side of da4ml and alkaid, likewise.
    pub fn da4ml() -> Result<Self> {
        Self::run(&DA4ML, 1)
    }

    fn run(program: &Program, threads: usize) -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer");
        let python = program.python(&folder)?;
        let mut process = Command::new(python)
            .arg(folder.join(program.script))
            .arg(threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the Python side")?;
        let requests = process
            .stdin
            .take()
            .context("the Python side has no input")?;
        let answers = process
            .stdout
            .take()
            .context("the Python side has no output")?;
        Ok(Self {
            process,
            requests,
            answers: BufReader::new(answers),
        })
    }

    /// Runs a request, such as `train mlp eager 256 200`, and returns the seconds of one repetition.
    pub fn ask(&mut self, request: &str) -> Result<Spent> {
        let [cpu, wall] = self.numbers(request)?;
        Ok(Spent { wall, cpu })
    }

    /// Runs a request and returns the two numbers it answers.
    pub fn numbers(&mut self, request: &str) -> Result<[f64; 2]> {
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let numbers: Vec<f64> = line
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        match numbers[..] {
            [first, second] => Ok([first, second]),
            _ => bail!("the Python side answered '{}' to '{request}'", line.trim()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The process ends by itself when its input closes; a failure to kill it changes nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Program {
    /// The Python that the variable names, or that of the environment, which `setup.sh` makes beside this package.
    fn python(&self, folder: &Path) -> Result<PathBuf> {
        if let Some(python) = std::env::var_os(self.variable) {
            return Ok(python.into());
        }
        let environment = self.environment;
        let python = folder.join("..").join(environment).join("bin/python");
        if !python.exists() {
            let setup = folder.join("setup.sh");
            let status = Command::new("bash").arg(setup).arg(environment).status()?;
            if !status.success() {
                bail!("peer/setup.sh could not install {environment}; see its output above");
            }
        }
        Ok(python)
    }
}
