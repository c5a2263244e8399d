//! A PostgreSQL server for one test, by `scripts/postgres.sh`.

use std::process::Command;

pub struct Server {
    /// None for a server that was there before.
    pub folder: Option<String>,
    /// Where it answers.
    pub url: String,
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres.sh");

impl Server {
    /// A server of our own, which can be stopped; nothing where PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        let output = Command::new(SCRIPT).arg("start").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some((folder, url)) = text.trim().split_once(' ') else {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            eprintln!("skipped: {}", why.trim());
            return None;
        };
        Some(Self {
            folder: Some(folder.to_owned()),
            url: url.to_owned(),
        })
    }

    /// Stops it as a crash would.
    pub fn down(&self) {
        self.script("down");
    }

    /// Starts it again.
    pub fn up(&self) {
        self.script("up");
    }

    fn script(&self, what: &str) {
        if let Some(folder) = &self.folder {
            let status = Command::new(SCRIPT).args([what, folder]).status().unwrap();
            assert!(status.success(), "{what} {folder}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = Command::new(SCRIPT).args(["stop", folder]).status();
        }
    }
}
