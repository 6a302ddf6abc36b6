//! Downloading: resumed where it was cut, believed only if the digest agrees.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::Agent;

use super::{Known, KnownFile};
use crate::{Error, Result};

/// How often a connection may be cut before it is given up.
const ATTEMPTS: usize = 4;
/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
const CHUNK: usize = 1 << 16;

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that were downloaded; 0 if it was there already.
    pub downloaded: u64,
}

/// Gets the files of a data set into its place below `folder`; those that are there are only checked.
///
/// A file is downloaded beside its place, under a lock: two processes at once wait for each other, and
/// what a cut connection left is continued. `progress` gets the path, the bytes so far and the size.
///
/// # Errors
/// If the folder cannot be written, the server does not answer, says no, or sends something else than
/// the file: larger than said, or of another digest. A file that was there is never replaced.
pub fn fetch(
    set: &Known,
    folder: &Path,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<Vec<Got>> {
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
) -> Result<Got> {
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
        return Ok(Got { path, downloaded: 0 });
    }
    let mut downloaded = 0;
    for attempt in 1..=ATTEMPTS {
        match download(agent, file, &partial, &mut downloaded, progress) {
            Err(Error::Cut { .. }) if attempt < ATTEMPTS => {}
            Err(error) => return Err(error),
            Ok(()) => break,
        }
    }
    if let Err(error) = check(file, &partial, &path) {
        // Nothing of it can be continued.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    fs::rename(&partial, &path).map_err(write(&path))?;
    let _ = fs::remove_file(&lock);
    Ok(Got { path, downloaded })
}

/// Brings the partial file to its full size.
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
        // The server does not continue: from the beginning, then.
        200 => {
            done = out.seek(SeekFrom::Start(0)).map_err(write)?;
            out.set_len(0).map_err(write)?;
        }
        status => return Err(refused(file, &format!("it answered {}", answer(status)))),
    }
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; CHUNK];
    while done < file.bytes {
        let count = match body.read(&mut buffer) {
            Ok(0) => return Err(cut(file, "the connection ended too early")),
            Ok(count) => count,
            Err(error) => return Err(cut(file, &error.to_string())),
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
        return Err(refused(file, &format!("it sends more than the {} bytes said", file.bytes)));
    }
    out.sync_all().map_err(write)
}

/// Whether the server continues where it was asked to.
fn starts_at(response: &ureq::http::Response<ureq::Body>, done: u64) -> bool {
    let range = response.headers().get("content-range").and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {done}-")))
}

fn answer(status: u16) -> String {
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

fn cut(file: &KnownFile, reason: &str) -> Error {
    Error::Cut { address: file.address.to_owned(), reason: reason.into() }
}

/// Compares the digest of what is at `found` with that of the file; `named` is told to the user.
fn check(file: &KnownFile, found: &Path, named: &Path) -> Result<()> {
    let digest = digest(found).map_err(|source| Error::Read { path: found.to_owned(), source })?;
    if digest == file.sha256 {
        return Ok(());
    }
    Err(Error::AnotherFile {
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
