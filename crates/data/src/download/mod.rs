//! Files fetched over the network, by the `curl` that systems have: it knows their certificates and proxies, and the
//! program need not carry a TLS library of its own.
//!
//! A file stays in `NAME.part` until it is whole and verified; a fetch that was interrupted resumes from there.

use crate::error::DataError;
use crate::options::OpenOptions;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions as FileOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Larger files are refused: 8 GiB.
const MAX_BYTES: u64 = 1 << 33;
/// Attempts to resume a fetch that breaks off.
const ATTEMPTS: usize = 4;

/// Exit codes of curl for a transfer that ended early.
const BROKEN_OFF: [i32; 3] = [18, 28, 56];
/// And when the server does not go on from the middle: no ranges, or a range outside of the file.
const NO_RESUME: [i32; 3] = [22, 33, 36];

/// The address of `OpenML`'s descriptions; a description names the file.
const OPENML: &str = "https://api.openml.org/api/v1/json/data/";
/// Descriptions are small; more than this is something else.
const MAX_DESCRIPTION: u64 = 1 << 24;

/// Fetches `url` to `target` and compares it with what was published. `openml:42468` is the file of that dataset of
/// `OpenML`'s.
pub(crate) fn fetch(
    url: &str,
    target: &Path,
    published: Option<&str>,
    options: &OpenOptions,
) -> Result<(), DataError> {
    match url.strip_prefix("openml:") {
        Some(id) => {
            let url = described(&format!("{OPENML}{id}"), target, options)?;
            fetch_file(&url, target, published, options)
        }
        None => fetch_file(url, target, published, options),
    }
}

/// The address of the file that a description at `url` names.
fn described(url: &str, target: &Path, options: &OpenOptions) -> Result<String, DataError> {
    let description = beside(target, "description.json");
    // A part of an earlier description is of no use.
    let _ = fs::remove_file(&description);
    fetch_file(
        url,
        &description,
        None,
        &OpenOptions {
            notice: None,
            progress: None,
            ..options.clone()
        },
    )?;
    let found = address(&description);
    let _ = fs::remove_file(&description);
    found.map_err(|message| DataError::Download {
        url: url.to_owned(),
        message,
    })
}

fn address(description: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = File::open(description).map_err(|error| error.to_string())?;
    file.take(MAX_DESCRIPTION)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    let json: serde_json::Value = serde_json::from_slice(&bytes)
        .map_err(|error| format!("is not a description of a dataset: {error}"))?;
    let url = json["data_set_description"]["url"].as_str();
    let url = url.filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    url.map(str::to_owned)
        .ok_or_else(|| "the description names no file".to_owned())
}

fn fetch_file(
    url: &str,
    target: &Path,
    published: Option<&str>,
    options: &OpenOptions,
) -> Result<(), DataError> {
    let failed = |message: String| DataError::Download {
        url: url.to_owned(),
        message,
    };
    let refused = |error: io::Error| failed(format!("{}: {error}", target.display()));
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let part = beside(target, "part");
    transfer_all(url, &part, target, options).map_err(failed)?;
    let found = File::open(&part).and_then(sha256).map_err(refused)?;
    match published {
        Some(published) if published != found => {
            fs::remove_file(&part).map_err(refused)?;
            return Err(failed(format!(
                "the file has SHA-256 {found}, not {published} as published; it was discarded"
            )));
        }
        Some(_) => {}
        None => options.report(&format!(
            "{url}: no published checksum to compare with; the file has SHA-256 {found}"
        )),
    }
    fs::rename(&part, target).map_err(refused)
}

/// The SHA-256 of all that the reader gives, in hexadecimal.
fn sha256(mut reader: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        let n = reader.read(&mut piece)?;
        if n == 0 {
            break;
        }
        digest.update(&piece[..n]);
    }
    let digits = digest.finalize().into_iter();
    Ok(digits.map(|byte| format!("{byte:02x}")).collect())
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!("{name}.{ending}"))
}

fn transfer_all(
    url: &str,
    part: &Path,
    target: &Path,
    options: &OpenOptions,
) -> Result<(), String> {
    let mut failure = String::new();
    for _ in 0..ATTEMPTS {
        let start = fs::metadata(part).map_or(0, |metadata| metadata.len());
        let outcome = transfer(url, part, target, start, options)
            .map_err(|error| format!("{}: {error}", part.display()))?;
        let Outcome::Failed { code, message } = outcome else {
            return Ok(());
        };
        failure = message;
        let end = fs::metadata(part).map_or(0, |metadata| metadata.len());
        if start > 0 && NO_RESUME.contains(&code) {
            fs::remove_file(part).map_err(|error| format!("{}: {error}", part.display()))?;
        } else if !(BROKEN_OFF.contains(&code) && end > start) {
            break;
        }
    }
    Err(failure)
}

enum Outcome {
    Done,
    Failed { code: i32, message: String },
}

/// One run of curl, from byte `start` on.
fn transfer(
    url: &str,
    part: &Path,
    target: &Path,
    start: u64,
    options: &OpenOptions,
) -> io::Result<Outcome> {
    let headers = beside(target, "headers");
    let mut child = match curl(url, start, &headers).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Outcome::Failed {
                code: -1,
                message: format!(
                    "fetching needs curl, which is not installed; save the file as {}",
                    target.display()
                ),
            });
        }
        Err(error) => return Err(error),
    };
    let copied = copy(&mut child, part, target, start, &headers, options);
    if copied.is_err() {
        // The first error is the one to report, and the child has no reader any more.
        let _ = child.kill();
    }
    let output = child.wait_with_output()?;
    let _ = fs::remove_file(&headers);
    copied?;
    if output.status.success() {
        return Ok(Outcome::Done);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message = stderr.lines().next().unwrap_or("curl failed").trim();
    Ok(Outcome::Failed {
        code: output.status.code().unwrap_or(-1),
        message: message.to_owned(),
    })
}

fn curl(url: &str, start: u64, headers: &Path) -> Command {
    let mut command = Command::new("curl");
    command
        .args([
            "--fail",
            "--location",
            "--silent",
            "--show-error",
            "--proto",
            "=http,https",
        ])
        .args([
            "--noproxy",
            "localhost,127.0.0.1",
            "--connect-timeout",
            "20",
        ])
        // Less than a byte per second for a minute is a dead line.
        .args(["--speed-limit", "1", "--speed-time", "60"])
        .args(["--max-filesize", &MAX_BYTES.to_string()])
        .arg("--dump-header")
        .arg(headers);
    if start > 0 {
        command.args(["--continue-at", &start.to_string()]);
    }
    command.args(["--url", url]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Appends what curl gives to the part.
fn copy(
    child: &mut Child,
    part: &Path,
    target: &Path,
    start: u64,
    headers: &Path,
    options: &OpenOptions,
) -> io::Result<()> {
    let Some(mut stream) = child.stdout.take() else {
        return Ok(());
    };
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let mut file = FileOptions::new().create(true).append(true).open(part)?;
    let mut piece = vec![0; 1 << 16];
    let (mut n_bytes, mut total) = (start, None);
    loop {
        let n = stream.read(&mut piece)?;
        if n == 0 {
            return file.sync_all();
        }
        file.write_all(&piece[..n])?;
        if n_bytes == start {
            total = content_length(headers).map(|length| start + length);
        }
        n_bytes += n as u64;
        if n_bytes > MAX_BYTES {
            return Err(io::Error::other(format!("has more than {MAX_BYTES} bytes")));
        }
        if let Some(progress) = options.progress {
            progress(&name, n_bytes, total);
        }
    }
}

/// The length that the last of the answers announced; the earlier ones lead to it.
fn content_length(headers: &Path) -> Option<u64> {
    let text = fs::read_to_string(headers).ok()?;
    let last = text.rfind("HTTP/")?;
    let mut lines = text[last..].lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| key.eq_ignore_ascii_case("content-length"))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests;
