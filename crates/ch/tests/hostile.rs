//! Small files that describe more than memory holds end with one sentence, within the memory that a file may take.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;

use flate2::Compression;
use flate2::write::GzEncoder;
use folder::Folder;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::process::Command;

/// The address space of the program in kilobytes: what a file may take, three times, and the program itself.
const LIMIT: u64 = 1_000_000;
/// Bytes that a packed file unpacks to: more than any file may take.
const UNPACKED: usize = 300_000_000;
const MEGABYTE: usize = 1 << 20;

/// The one sentence of a command that must refuse its file within the memory that it may take.
fn refusal(folder: &Folder, line: &str) -> String {
    let script = format!(
        "ulimit -v {LIMIT}; exec {} {line}",
        env!("CARGO_BIN_EXE_ch")
    );
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(&**folder).output();
    let output = output.unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}: {error}");
    let sentences = error.lines().filter(|line| line.starts_with("error: "));
    assert_eq!(sentences.count(), 1, "{line}: {error}");
    error
}

/// Runs a command that must name the memory that its file needs.
fn refused(folder: &Folder, line: &str) {
    let error = refusal(folder, line);
    let advice = "may take; if it is a file that you trust, --max-memory allows more";
    assert!(error.contains(advice), "{line}: {error}");
}

/// Writes the same bytes until a packed file unpacks to [`UNPACKED`].
fn packed(folder: &Folder, name: &str, head: &[u8], repeated: &[u8]) {
    let file = BufWriter::new(File::create(folder.join(name)).unwrap());
    let mut packed = GzEncoder::new(file, Compression::fast());
    packed.write_all(head).unwrap();
    let block = repeated.repeat(MEGABYTE / repeated.len());
    for _ in 0..UNPACKED / block.len() {
        packed.write_all(&block).unwrap();
    }
    packed.finish().unwrap();
}

/// A pickle in protocol 4 under construction.
#[derive(Default)]
struct Pickle(Vec<u8>);

impl Pickle {
    fn start() -> Self {
        Self(b"\x80\x04".to_vec())
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn text(self, text: &str) -> Self {
        let length = (text.len() as u32).to_le_bytes();
        self.raw(b"X").raw(&length).raw(text.as_bytes())
    }

    fn global(self, module: &str, name: &str) -> Self {
        self.raw(format!("c{module}\n{name}\n").as_bytes())
    }

    fn put(self, slot: u8) -> Self {
        self.raw(&[b'q', slot])
    }

    fn get(self, slot: u8) -> Self {
        self.raw(&[b'h', slot])
    }

    fn repeat(mut self, count: usize, add: impl Fn(Self, usize) -> Self) -> Self {
        for i in 0..count {
            self = add(self, i);
        }
        self
    }

    fn stop(self) -> Vec<u8> {
        self.raw(b".").0
    }
}

#[test]
fn names_that_are_shared_are_not_copied_without_end() {
    let folder = Folder::new("hostile_globals");
    let long = "a".repeat(MEGABYTE);
    let pickle = Pickle::start().raw(b"](").text(&long).put(0);
    let pickle = pickle.repeat(4000, |pickle, _| pickle.get(0).get(0).raw(b"\x93"));
    fs::write(folder.join("evil.pt"), pickle.raw(b"e").stop()).unwrap();
    refused(&folder, "show evil.pt");
}

#[test]
fn settings_that_are_shared_are_not_copied_without_end() {
    let folder = Folder::new("hostile_settings");
    let long = "a".repeat(MEGABYTE);
    let pickle = Pickle::start().raw(b"}(");
    let pickle = pickle
        .text("epoch")
        .raw(b"K\x00")
        .text("global_step")
        .raw(b"K\x00");
    let pickle = pickle
        .text("state_dict")
        .raw(b"}")
        .text("mase")
        .raw(b"}(")
        .text("resume");
    let pickle = pickle
        .raw(b"](")
        .text(&long)
        .put(0)
        .repeat(4000, |pickle, _| pickle.get(0));
    fs::write(folder.join("evil.ckpt"), pickle.raw(b"euu").stop()).unwrap();
    let error = refusal(&folder, "show evil.ckpt");
    assert!(
        error.contains("mase.resume: is nested too deep or too large"),
        "{error}"
    );
}

/// A file of PyTorch before 1.6 that holds one storage of so many floats.
fn storage(count: usize) -> Vec<u8> {
    let mut bytes = Pickle::start()
        .raw(b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")
        .stop();
    bytes.extend(Pickle::start().raw(b"M\xe9\x03").stop());
    bytes.extend(Pickle::start().raw(b"}").stop());
    let object = Pickle::start()
        .raw(b"(")
        .text("storage")
        .global("torch", "FloatStorage")
        .text("0")
        .text("cpu");
    let object = object
        .raw(b"J")
        .raw(&(count as u32).to_le_bytes())
        .raw(b"NtQ");
    bytes.extend(object.stop());
    bytes.extend(Pickle::start().raw(b"]").text("0").raw(b"a").stop());
    bytes.extend((count as u64).to_le_bytes());
    bytes.extend(std::iter::repeat_n(0, 4 * count));
    bytes
}

#[test]
fn storages_inside_a_pickle_are_not_copied_without_end() {
    let folder = Folder::new("hostile_storages");
    let text: String = storage(MEGABYTE / 4)
        .iter()
        .map(|&byte| char::from(byte))
        .collect();
    let pickle = Pickle::start().raw(b"}(").text(&text).put(0).raw(b"0");
    let pickle = pickle.repeat(1000, |pickle, i| {
        let pickle = pickle
            .text(&format!("weight{i}"))
            .global("torch._utils", "_rebuild_tensor_v2")
            .raw(b"(");
        let pickle = pickle
            .global("torch.storage", "_load_from_bytes")
            .global("_codecs", "encode");
        let pickle = pickle.get(0).text("latin1").raw(b"\x86R\x85R");
        pickle
            .raw(b"K\x00")
            .raw(b"K\x01\x85")
            .raw(b"K\x01\x85")
            .raw(b"\x89NtR")
    });
    fs::write(folder.join("evil.pt"), pickle.raw(b"u").stop()).unwrap();
    refused(&folder, "show evil.pt");
}

#[test]
fn headers_are_not_read_without_end() {
    let folder = Folder::new("hostile_header");
    let entries: Vec<String> = (0..1_000_000).map(|i| format!("\"{i}\":\"\"")).collect();
    let header = format!("{{\"__metadata__\":{{{}}}}}", entries.join(","));
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    fs::write(folder.join("evil.safetensors"), bytes).unwrap();
    refused(&folder, "show evil.safetensors");
}

#[test]
fn packed_tables_are_not_unpacked_without_end() {
    let folder = Folder::new("hostile_tables");
    packed(&folder, "rows.csv.gz", b"x,y\n", b"1,a\n");
    refused(&folder, "data info rows.csv.gz:y");
    packed(&folder, "lines.csv.gz", b"x,y\n1,a\n", b"\n");
    refused(&folder, "data info lines.csv.gz:y");
}

#[test]
fn a_line_of_separators_is_not_split_without_end() {
    let folder = Folder::new("hostile_cells");
    let line = format!("x,y\n{}\n", ",".repeat(12_000_000));
    fs::write(folder.join("cells.csv"), line).unwrap();
    let error = refusal(&folder, "data info cells.csv:y");
    assert!(
        error.contains("line 2: the record has more cells than a table of this size may have"),
        "{error}"
    );
}

#[test]
fn packed_images_are_not_unpacked_without_end() {
    let folder = Folder::new("hostile_images");
    let data = folder.join("mnist");
    fs::create_dir_all(&data).unwrap();
    let sizes = |rank: u8, sizes: &[u32]| {
        let mut head = vec![0, 0, 8, rank];
        head.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
        head
    };
    let rows = (UNPACKED / 784) as u32;
    for name in ["train", "t10k"] {
        packed(
            &folder,
            &format!("mnist/{name}-images-idx3-ubyte.gz"),
            &sizes(3, &[rows, 28, 28]),
            &[0; 1024],
        );
        packed(
            &folder,
            &format!("mnist/{name}-labels-idx1-ubyte.gz"),
            &sizes(1, &[rows]),
            &[0; 1024],
        );
    }
    refused(&folder, "data info mnist --data-dir .");
}
