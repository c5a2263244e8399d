//! A folder to type commands in.
#![allow(dead_code, reason = "each test binary uses a part")]

use super::folder::Folder;
use serde_json::Value as Json;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of its own to type commands in.
pub struct Workspace(pub Folder);

impl Workspace {
    pub fn new(name: &str) -> Self {
        Self(Folder::new(&format!("training_{name}")))
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ch"));
        command
            .args(line.split_whitespace())
            .current_dir(&*self.0)
            .env_remove("MASE_DATA")
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// The JSON result of a command that must succeed.
    pub fn json(&self, line: &str) -> Json {
        let output = self.run(&format!("{line} --json --quiet"));
        assert!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The error of a command that must fail with this code.
    pub fn error(&self, line: &str, code: i32) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(
            code == 1 || output.stdout.is_empty(),
            "{line} printed a result"
        );
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// The only run's folder.
    pub fn software(&self) -> PathBuf {
        let run = fs::read_dir(self.0.join("mase_output"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        run.path().join("software")
    }
}
