//! Transfers by curl: one run of it, and another from where the last one broke off.

use super::{beside, length, name};
use crate::catalog::Origin;
use crate::options::OpenOptions;
use std::fs::{self, OpenOptions as FileOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Larger files are refused: 8 GiB.
const MAX_BYTES: u64 = 1 << 33;
/// Attempts to resume a fetch that breaks off.
const ATTEMPTS: usize = 4;

/// Exit codes of curl for a transfer that ended early.
const BROKEN_OFF: [i32; 3] = [18, 28, 56];
/// And when the server does not go on from the middle: no ranges, or a range outside of the file.
const NO_RESUME: [i32; 3] = [22, 33, 36];

/// Fetches into `part` from the bytes there are on, as often as a transfer breaks off.
pub(super) fn transfer_all(
    origin: &Origin,
    part: &Path,
    target: &Path,
    options: &OpenOptions,
) -> Result<(), String> {
    let mut failure = String::new();
    for _ in 0..ATTEMPTS {
        let start = length(part);
        if origin.n_bytes == Some(start) {
            return Ok(());
        }
        let outcome = transfer(origin.url, part, target, start, options)
            .map_err(|error| format!("{}: {error}", part.display()))?;
        let Outcome::Failed { code, message } = outcome else {
            return Ok(());
        };
        failure = message;
        let end = length(part);
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
    let mut child = match download(url, start, &headers).spawn() {
        Ok(child) => child,
        Err(error) => return not_started(error, target),
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

/// The outcome without a curl to run.
fn not_started(error: io::Error, target: &Path) -> io::Result<Outcome> {
    if error.kind() != io::ErrorKind::NotFound {
        return Err(error);
    }
    let message = format!(
        "fetching needs curl, which is not installed; save the file as {}",
        target.display()
    );
    Ok(Outcome::Failed { code: -1, message })
}

/// The command that writes the file from byte `start` on to its standard output.
fn download(url: &str, start: u64, headers: &Path) -> Command {
    let mut command = curl(url);
    command
        // Less than a byte per second for a minute is a dead line.
        .args(["--speed-limit", "1", "--speed-time", "60"])
        .args(["--max-filesize", &MAX_BYTES.to_string()])
        .arg("--dump-header")
        .arg(headers)
        .args(["--continue-at", &start.to_string()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The size that the server announces for a file, asked for without the file.
pub(super) fn size_of(url: &str) -> Option<u64> {
    let output = curl(url)
        .args(["--head", "--max-time", "20"])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| content_length(&text))?
}

fn curl(url: &str) -> Command {
    let mut command = Command::new("curl");
    command
        .args(["--fail", "--location", "--silent", "--show-error"])
        .args(["--proto", "=http,https", "--connect-timeout", "20"])
        .args(["--noproxy", "localhost,127.0.0.1"])
        .args(["--url", url])
        .stdin(Stdio::null());
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
    let name = name(target);
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
            let answers = fs::read_to_string(headers).unwrap_or_default();
            total = content_length(&answers).map(|length| start + length);
        }
        n_bytes += n as u64;
        check_size(n_bytes)?;
        if let Some(progress) = options.progress {
            progress(&name, n_bytes, total);
        }
    }
}

fn check_size(n_bytes: u64) -> io::Result<()> {
    if n_bytes > MAX_BYTES {
        return Err(io::Error::other(format!("has more than {MAX_BYTES} bytes")));
    }
    Ok(())
}

/// The length that the last of the answers announced; the earlier ones lead to it.
fn content_length(answers: &str) -> Option<u64> {
    let last = answers.rfind("HTTP/")?;
    let mut lines = answers[last..]
        .lines()
        .filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(key, _)| key.eq_ignore_ascii_case("content-length"))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_curl_is_told_where_to_save_the_file() {
        let started = |kind: io::ErrorKind| not_started(kind.into(), Path::new("jets/file.z"));
        let Ok(Outcome::Failed { code, message }) = started(io::ErrorKind::NotFound) else {
            panic!("no outcome");
        };
        assert_eq!(code, -1);
        assert_eq!(
            message,
            "fetching needs curl, which is not installed; save the file as jets/file.z"
        );
        let denied = started(io::ErrorKind::PermissionDenied).err().unwrap();
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_file_may_have_eight_gibibytes() {
        check_size(8 << 30).unwrap();
        let error = check_size((8 << 30) + 1).unwrap_err();
        assert_eq!(error.to_string(), "has more than 8589934592 bytes");
    }

    #[test]
    fn the_last_answer_announces_the_length() {
        let moved = "HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\n";
        let found = "HTTP/2 200\r\nserver: a\r\ncontent-length: 70 \r\n\r\n";
        assert_eq!(content_length(&format!("{moved}{found}")), Some(70));
        assert_eq!(content_length(&format!("{found}{moved}")), Some(5));
        assert_eq!(content_length("HTTP/1.1 200 OK\r\n\r\n"), None);
        assert_eq!(content_length("content-length: 5"), None);
        assert_eq!(
            content_length("HTTP/1.1 200\r\ncontent-length: much\r\n"),
            None
        );
    }
}
