//! Files fetched over the network, by the `curl` that systems have: it knows their certificates and proxies, and the
//! program need not carry a TLS library of its own.
//!
//! Every fetch is announced first: file, size, address, folder. A file stays in `NAME.part` until it is whole and verified;
//! a fetch that was interrupted resumes from there.

mod check;
mod curl;

use crate::catalog::Origin;
use crate::error::DataError;
use crate::options::OpenOptions;
pub(crate) use check::{Check, Kind};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The address of `OpenML`'s descriptions; a description names the file.
const OPENML: &str = "https://api.openml.org/api/v1/json/data/";
/// Descriptions are small; more than this is something else.
const MAX_DESCRIPTION: u64 = 1 << 24;

/// Fetches a file to `target` and compares it with what was published. The address `openml:42468` is the file of that
/// dataset of `OpenML`'s.
pub(crate) fn fetch(
    origin: &Origin,
    target: &Path,
    options: &OpenOptions,
) -> Result<(), DataError> {
    match origin.url.strip_prefix("openml:") {
        Some(id) => {
            let url = described(&format!("{OPENML}{id}"), target, options)?;
            fetch_file(
                &Origin {
                    url: &url,
                    ..*origin
                },
                target,
                options,
            )
        }
        None => fetch_file(origin, target, options),
    }
}

/// The address of the file that a description at `url` names.
fn described(url: &str, target: &Path, options: &OpenOptions) -> Result<String, DataError> {
    options.report(&format!("asking {url} for the address of {}", name(target)));
    let description = beside(target, "description.json");
    // A part of an earlier description is of no use.
    let _ = fs::remove_file(&description);
    fetch_file(
        &Origin {
            url,
            n_bytes: None,
            check: Check::Kind(Kind::Description),
        },
        &description,
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
        .map_err(|error| format!("the file is not a description of a dataset: {error}"))?;
    let url = json["data_set_description"]["url"].as_str();
    let url = url.filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    url.map(str::to_owned)
        .ok_or_else(|| "the description names no file".to_owned())
}

fn fetch_file(origin: &Origin, target: &Path, options: &OpenOptions) -> Result<(), DataError> {
    let url = origin.url;
    let failed = |message: String| DataError::Download {
        url: url.to_owned(),
        message,
    };
    let refused = |error: io::Error| failed(format!("{}: {error}", target.display()));
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let part = beside(target, "part");
    announce(origin, &part, target, options);
    loop {
        let resumed = length(&part) > 0;
        curl::transfer_all(origin, &part, target, options).map_err(failed)?;
        match origin.check.verify(&part).map_err(refused)? {
            Ok(sha256) => {
                if let Check::Kind(_) = origin.check {
                    options.report(&format!(
                        "{url}: no published checksum to compare with; the file has SHA-256 {sha256}"
                    ));
                }
                return fs::rename(&part, target).map_err(refused);
            }
            Err(problem) => {
                fs::remove_file(&part).map_err(refused)?;
                if !resumed {
                    return Err(failed(format!("{problem}; it was discarded")));
                }
                // The earlier part may be of an older version of the file.
                options.report(&format!(
                    "{url}: {problem}; it is fetched again from its first byte"
                ));
            }
        }
    }
}

/// Reports file, size, address and folder of a fetch that is about to begin. The size is the published one, or the one
/// that the server answers with.
fn announce(origin: &Origin, part: &Path, target: &Path, options: &OpenOptions) {
    if options.notice.is_none() {
        return;
    }
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let size = origin.n_bytes.or_else(|| curl::size_of(origin.url));
    let size = size.map_or_else(|| "size unknown".to_owned(), megabytes);
    let there = match length(part) {
        0 => String::new(),
        bytes => format!(", {} of it there already", megabytes(bytes)),
    };
    let folder = target.parent().unwrap_or(target).display();
    options.report(&format!(
        "fetching {} ({size}{there}) from {} into {folder}",
        name(target),
        origin.url
    ));
}

/// The bytes of a file; none if it is not there.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn name(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    target.with_file_name(format!("{}.{ending}", name(target)))
}

#[cfg(test)]
mod tests;
