//! Downloading: resumed if interrupted, accepted only if the digest matches.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::Agent;

use super::{Known, KnownFile};
use crate::{Error, Result};

/// Attempts before an interrupted download is given up.
const ATTEMPTS: usize = 4;
/// How long to wait for a server.
const PATIENCE: Duration = Duration::from_secs(30);
const CHUNK: usize = 1 << 16;

/// The result for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where it is.
    pub path: PathBuf,
    /// Number of bytes downloaded; 0 if the file was there already.
    pub downloaded: u64,
}

/// Downloads the files of a data set to their places below `folder`; existing ones are only checked.
///
/// A file is downloaded next to its place, under a lock: two processes at once wait for each other,
/// and an interrupted download is resumed. `progress` gets the path, the bytes so far and the size.
///
/// # Errors
/// If the folder cannot be written, or the server does not answer, refuses, or sends something other
/// than the file: too large, or with another digest. An existing file is never replaced.
pub fn fetch(
    set: &Known,
    folder: &Path,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<Fetched>> {
    let agent: Agent = Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .http_status_as_error(false)
        .build()
        .into();
    set.files.iter().map(|file| fetch_one(&agent, file, folder, progress)).collect()
}

fn fetch_one(
    agent: &Agent,
    file: &KnownFile,
    folder: &Path,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Fetched> {
    let path = folder.join(file.path);
    let write = |at: &Path| {
        let at = at.to_owned();
        move |source| Error::Write { path: at.clone(), source }
    };
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(write(parent))?;
    let beside = |ending: &str| PathBuf::from(format!("{}.{ending}", path.display()));
    let (partial, lock) = (beside("part"), beside("lock"));
    let guard = File::create(&lock).map_err(write(&lock))?;
    guard.lock().map_err(write(&lock))?;
    if path.exists() {
        check(file, &path, &path)?;
        let _ = fs::remove_file(&lock);
        return Ok(Fetched { path, downloaded: 0 });
    }
    let mut downloaded = 0;
    for attempt in 1..=ATTEMPTS {
        match download(agent, file, &partial, &mut downloaded, progress) {
            Err(Error::Interrupted { .. }) if attempt < ATTEMPTS => {}
            Err(error) => return Err(error),
            Ok(()) => break,
        }
    }
    if let Err(error) = check(file, &partial, &path) {
        // A wrong file cannot be resumed.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    fs::rename(&partial, &path).map_err(write(&path))?;
    let _ = fs::remove_file(&lock);
    Ok(Fetched { path, downloaded })
}

/// Completes the partial file.
fn download(
    agent: &Agent,
    file: &KnownFile,
    partial: &Path,
    downloaded: &mut u64,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<()> {
    let write = |source| Error::Write { path: partial.to_owned(), source };
    let mut options = OpenOptions::new();
    let mut out =
        options.create(true).truncate(false).read(true).write(true).open(partial).map_err(write)?;
    let mut done = out.seek(SeekFrom::End(0)).map_err(write)?;
    if done >= file.bytes {
        return Ok(());
    }
    let mut request = agent.get(file.address);
    if done > 0 {
        request = request.header("Range", format!("bytes={done}-"));
    }
    let mut response = request.call().map_err(|error| refused(file, &error.to_string()))?;
    match response.status().as_u16() {
        206 if done > 0 && starts_at(&response, done) => {}
        200 if done == 0 => {}
        // The server cannot resume: start again from the beginning.
        200 => {
            done = out.seek(SeekFrom::Start(0)).map_err(write)?;
            out.set_len(0).map_err(write)?;
        }
        status => {
            return Err(refused(file, &format!("the server answered {}", status_text(status))));
        }
    }
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; CHUNK];
    while done < file.bytes {
        let count = match body.read(&mut buffer) {
            Ok(0) => return Err(interrupted(file, "the connection ended too early")),
            Ok(count) => count,
            Err(error) => return Err(interrupted(file, &error.to_string())),
        };
        done += count as u64;
        *downloaded += count as u64;
        if done > file.bytes {
            break;
        }
        out.write_all(&buffer[..count]).map_err(write)?;
        progress(file.path, done, file.bytes);
    }
    let more = done > file.bytes || body.read(&mut buffer).is_ok_and(|count| count > 0);
    if more {
        drop(out);
        let _ = fs::remove_file(partial);
        return Err(refused(file, &format!("the server sent more than {} bytes", file.bytes)));
    }
    out.sync_all().map_err(write)
}

/// Whether the server resumes at the requested byte.
fn starts_at(response: &ureq::http::Response<ureq::Body>, done: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {done}-")))
}

fn status_text(status: u16) -> String {
    match status {
        404 => "404, not found: the file has moved".to_owned(),
        403 => "403, forbidden".to_owned(),
        other => other.to_string(),
    }
}

fn refused(file: &KnownFile, reason: &str) -> Error {
    Error::Download {
        address: file.address.to_owned(),
        path: file.path.into(),
        reason: reason.into(),
    }
}

fn interrupted(file: &KnownFile, reason: &str) -> Error {
    Error::Interrupted { address: file.address.to_owned(), reason: reason.into() }
}

/// Compares the digest of the file at `found` with the expected one; the error names `named`.
fn check(file: &KnownFile, found: &Path, named: &Path) -> Result<()> {
    let digest = digest(found).map_err(|source| Error::Read { path: found.to_owned(), source })?;
    if digest == file.sha256 {
        return Ok(());
    }
    Err(Error::WrongDigest {
        path: named.to_owned(),
        expected: file.sha256.to_owned(),
        found: digest,
    })
}

fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
