//! Small files that describe more than memory holds end with one sentence, within the memory that a file may take.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;

use flate2::Compression;
use flate2::write::GzEncoder;
use folder::Folder;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

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

/// An array of zeros with this many values of eight bytes, as NumPy packs it.
fn packed_array(archive: &mut ZipWriter<File>, name: &str, shape: &str, n_bytes: usize) {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}\n");
    archive
        .start_file(format!("{name}.npy"), SimpleFileOptions::default())
        .unwrap();
    archive.write_all(b"\x93NUMPY\x01\x00").unwrap();
    archive
        .write_all(&(header.len() as u16).to_le_bytes())
        .unwrap();
    archive.write_all(header.as_bytes()).unwrap();
    let block = vec![0; MEGABYTE.min(n_bytes)];
    for _ in 0..n_bytes / block.len() {
        archive.write_all(&block).unwrap();
    }
}

#[test]
fn packed_arrays_are_not_unpacked_without_end() {
    let folder = Folder::new("hostile_arrays");
    let create = |name: &str| ZipWriter::new(File::create(folder.join(name)).unwrap());
    let shape = format!("10, {}", UNPACKED / MEGABYTE * MEGABYTE / 80);
    let mut archive = create("features.npz");
    packed_array(&mut archive, "x", &shape, UNPACKED);
    packed_array(&mut archive, "y", "10,", 80);
    archive.finish().unwrap();
    refused(&folder, "data info features.npz:y");
    let mut archive = create("labels.npz");
    packed_array(&mut archive, "x", "10, 1", 80);
    packed_array(&mut archive, "y", &shape, UNPACKED);
    archive.finish().unwrap();
    refused(&folder, "data info labels.npz:y");
}

/// The small file of jets of the tests of `data`, with one place changed.
fn jets(folder: &Folder, from: &[u8], to: &[u8]) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/fixtures/jets.h5");
    let mut bytes = fs::read(fixture).unwrap();
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|&at| bytes[at..].starts_with(from))
        .collect();
    let &[at] = places.as_slice() else {
        panic!("{from:?} is at {places:?}");
    };
    bytes[at..][..to.len()].copy_from_slice(to);
    fs::create_dir_all(folder.join("jsc")).unwrap();
    let name = "jsc/processed-pythia82-lhc13-all-pt1-50k-r1_h022_e0175_t220_nonu_truth.z";
    fs::write(folder.join(name), bytes).unwrap();
}

#[test]
fn records_are_not_read_without_end() {
    let folder = Folder::new("hostile_records");
    // The rows that the file declares, and the rows that it might have.
    let rows = |count: u64| [count.to_le_bytes(), count.to_le_bytes()].concat();
    for count in [4_000_000, u64::from(u32::MAX)] {
        jets(&folder, &rows(157), &rows(count));
        refused(&folder, "data info jsc --data-dir .");
    }
    jets(&folder, &rows(157), &rows(u64::MAX));
    let error = refusal(&folder, "data info jsc --data-dir .");
    assert!(
        error.contains("rows, more than the 4294967295 that are read"),
        "{error}"
    );
    // The rows and the bytes of a chunk.
    let chunk = |rows: u32| [rows.to_le_bytes(), 127_u32.to_le_bytes()].concat();
    jets(&folder, &chunk(50), &chunk(2_000_000));
    refused(&folder, "data info jsc --data-dir .");
}
