//! Event files that TensorBoard reads: `TFRecord` frames around protocol-buffer messages.
//!
//! A frame is the length, a masked CRC-32C of the length, the message, a masked CRC-32C of the message. The messages need
//! four kinds of field, so they are written by hand rather than by a generated library.

use crate::TrainError;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// One event file.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: File,
    pending: Vec<u8>,
}

impl EventFile {
    /// A new file in `folder` for the steps after `step`, named so that TensorBoard, which goes by names, reads it after all
    /// that there are. It drops the values of earlier files for later steps than `step`.
    pub fn create(folder: &Path, step: u64) -> Result<Self, TrainError> {
        std::fs::create_dir_all(folder).map_err(TrainError::write(folder))?;
        let create = |n: u32| {
            let path = folder.join(format!("events.out.tfevents.{step:020}.{n:05}.mase"));
            let mut options = OpenOptions::new();
            let file = options.create_new(true).append(true).open(&path);
            (path, n, file)
        };
        let is_taken = |file: &io::Result<File>| {
            let error = file.as_ref().err();
            error.is_some_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
        };
        let mut created = create(0);
        while is_taken(&created.2) {
            created = create(created.1 + 1);
        }
        let (path, n, file) = created;
        let file = file.map_err(TrainError::write(&path))?;
        let mut events = Self {
            path,
            file,
            pending: Vec::new(),
        };
        events.add(0, &text_field(3, "brain.Event:2"));
        if step > 0 || n > 0 {
            // SessionLog { status: START }: older data of this step and later ones is orphaned.
            events.add(step + 1, &bytes_field(7, &varint_field(1, 1)));
        }
        events.flush()?;
        Ok(events)
    }

    /// Adds the value of a series at a step.
    pub fn scalar(&mut self, tag: &str, step: u64, value: f32) {
        let mut summary = text_field(1, tag);
        summary.push(2 << 3 | 5);
        summary.extend(value.to_le_bytes());
        self.add(step, &bytes_field(5, &bytes_field(1, &summary)));
    }

    /// Writes all events so far.
    pub fn flush(&mut self) -> Result<(), TrainError> {
        let written = self
            .file
            .write_all(&self.pending)
            .and_then(|()| self.file.flush());
        written.map_err(TrainError::write(&self.path))?;
        self.pending.clear();
        Ok(())
    }

    /// Adds an event: wall time, step, and its content.
    fn add(&mut self, step: u64, what: &[u8]) {
        let mut event = vec![1 << 3 | 1];
        event.extend(now().to_le_bytes());
        event.extend(varint_field(2, step));
        event.extend(what);
        let length = (event.len() as u64).to_le_bytes();
        self.pending.extend(length);
        self.pending.extend(masked_crc(&length).to_le_bytes());
        self.pending.extend(&event);
        self.pending.extend(masked_crc(&event).to_le_bytes());
    }
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |time| time.as_secs_f64())
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn varint_field(number: u8, value: u64) -> Vec<u8> {
    let mut field = vec![number << 3];
    field.extend(varint(value));
    field
}

fn bytes_field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    field.extend(varint(bytes.len() as u64));
    field.extend(bytes);
    field
}

fn text_field(number: u8, text: &str) -> Vec<u8> {
    bytes_field(number, text.as_bytes())
}

/// The mask of `TFRecord` keeps a CRC of data that holds CRCs from being predictable.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Castagnoli's CRC, a bit at a time: the messages are short.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| {
        if crc & 1 == 1 {
            crc >> 1 ^ 0x82f6_3b78
        } else {
            crc >> 1
        }
    };
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crc_is_castagnolis() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn varints_are_seven_bits_a_byte() {
        assert_eq!(varint(0), [0]);
        assert_eq!(varint(300), [0xac, 0x02]);
    }

    /// The length of the first record of TensorFlow's own event files and the checksum that stands behind it there.
    #[test]
    fn checksums_are_masked_as_in_tensorflow() {
        assert_eq!(masked_crc(&24_u64.to_le_bytes()), 0x224b_7fa3);
    }

    /// The events of a file: their steps and the bytes behind them. Checks the frames and the wall times.
    fn events(bytes: &[u8], started: f64) -> Vec<(u64, Vec<u8>)> {
        let (mut rest, mut events) = (bytes, Vec::new());
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            let (event, end) = (&rest[12..12 + length], 12 + length);
            assert_eq!(rest[8..12], masked_crc(&rest[..8]).to_le_bytes());
            assert_eq!(rest[end..end + 4], masked_crc(event).to_le_bytes());
            // Field 1, a double, and field 2, a varint.
            assert_eq!((event[0], event[9]), (0x09, 0x10));
            let time = f64::from_le_bytes(event[1..9].try_into().unwrap());
            assert!((started..=now()).contains(&time), "{time}");
            let last = 10
                + event[10..]
                    .iter()
                    .position(|byte| byte & 0x80 == 0)
                    .unwrap();
            let digits = event[10..=last].iter().rev();
            let step = digits.fold(0, |step, byte| step * 128 + u64::from(byte & 0x7f));
            events.push((step, event[last + 1..].to_vec()));
            rest = &rest[end + 4..];
        }
        events
    }

    #[test]
    fn files_hold_the_version_the_place_they_go_on_from_and_the_values() {
        let folder = std::env::temp_dir().join(format!("mase-events-{}", std::process::id()));
        let version = (0, [&[0x1a, 13][..], b"brain.Event:2"].concat());
        // SessionLog { status: START }.
        let start = |step| (step, vec![0x3a, 2, 0x08, 1]);
        // Summary { value { tag: "loss", simple_value: 0.5 } }.
        let loss = [
            &[0x2a, 13, 0x0a, 11, 0x0a, 4][..],
            b"loss",
            &[0x15, 0, 0, 0, 0x3f],
        ]
        .concat();
        for (step, expected) in [
            (0, vec![version.clone()]),
            (0, vec![version.clone(), start(1)]),
            (7, vec![version.clone(), start(8)]),
        ] {
            let started = now();
            let mut file = EventFile::create(&folder, step).unwrap();
            file.scalar("loss", step + 300, 0.5);
            file.flush().unwrap();
            file.scalar("loss", step + 70_000, 0.5);
            file.flush().unwrap();
            let found = events(&std::fs::read(&file.path).unwrap(), started);
            let values = [300, 70_000].map(|later| (step + later, loss.clone()));
            assert_eq!(found, [&expected[..], &values].concat());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
