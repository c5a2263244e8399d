//! A page in a real browser, and the document that comes of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Flags of a browser that asks the network for nothing of its own.
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --no-first-run --disable-sync --disable-quic \
    --disable-background-networking --disable-component-update --enable-logging=stderr --timeout=60000";

/// The sentence of a test that needs a browser where there is none.
pub const SKIPPED: &str = "skipped: no Chromium found; scripts/test-tools.sh installs one";

/// One browser at a time: several would slow each other down.
static TURN: Mutex<()> = Mutex::new(());

/// Chromium on this machine.
pub struct Browser {
    program: PathBuf,
    /// Held until this one is done.
    #[expect(dead_code, reason = "held, not read")]
    turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// The browser, if there is one.
    pub fn find() -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut places = names
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let program = places.find(|place| place.is_file())?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { program, turn })
    }

    /// The document that the browser makes of a page at an address of it.
    pub fn shown(&self, page: &str, address: &str) -> String {
        let flags = "--window-size=1280,900 --dump-dom";
        self.run(page, address, flags, &[], |_| ()).0
    }

    /// Runs the browser on a page from disk with files beside it, then what is to be done with their folder; scripts must not
    /// complain, and nothing may be refused.
    pub fn run<T>(
        &self,
        page: &str,
        address: &str,
        flags: &str,
        beside: &[(&str, &[u8])],
        then: impl FnOnce(&Path) -> T,
    ) -> (String, T) {
        let name = format!("page_{}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("report.html");
        std::fs::write(&file, page).unwrap();
        for (name, bytes) in beside {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let output = Command::new(&self.program)
            .args(FLAGS.split_whitespace().chain(flags.split_whitespace()))
            .arg(profile)
            .arg(format!("file://{}{address}", file.display()))
            .current_dir(&folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let complaints: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .collect();
        assert!(complaints.is_empty(), "{complaints:?}");
        assert!(output.status.success(), "{said}");
        let result = then(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        (String::from_utf8(output.stdout).unwrap(), result)
    }
}

/// The text between two marks.
pub fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let Some((_, rest)) = text.split_once(from) else {
        panic!("the page has no {from}")
    };
    rest.split(to).next().unwrap()
}
