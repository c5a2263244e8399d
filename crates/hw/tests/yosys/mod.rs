//! yosys, where the machine has it.

use hw::rtl::Rtl;
use std::io::Write;
use std::process::{Command, Stdio};

pub struct Yosys;

/// yosys, or a sentence that it is missing.
pub fn found() -> Option<Yosys> {
    let is_there = Command::new("yosys")
        .arg("-V")
        .stdout(Stdio::null())
        .status()
        .is_ok();
    if !is_there {
        let sentence = "skipped: there is no yosys here; scripts/test-tools.sh gets it\n";
        std::io::stderr().write_all(sentence.as_bytes()).unwrap();
    }
    is_there.then_some(Yosys)
}

impl Yosys {
    /// The words of a module.
    pub fn read(&self, text: &str) -> Rtl {
        self.try_read(text)
            .unwrap_or_else(|| panic!("yosys refuses\n{text}"))
    }

    /// The words of a module, if yosys and the reader take it.
    #[expect(clippy::unused_self, reason = "to have it is to have found it")]
    pub fn try_read(&self, text: &str) -> Option<Rtl> {
        let name = format!(
            "hw-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let folder = std::env::temp_dir().join(name.replace(['(', ')'], ""));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, json) = (folder.join("net.sv"), folder.join("net.json"));
        std::fs::write(&source, text).unwrap();
        let script = format!(
            "read_verilog -sv {}; hierarchy -top net; proc -norom; opt_clean; write_json {}",
            source.display(),
            json.display()
        );
        let run = Command::new("yosys")
            .args(["-q", "-p", &script])
            .output()
            .unwrap();
        let rtl = run.status.success().then(|| std::fs::read(&json).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        Rtl::read(&rtl?).ok()
    }
}
