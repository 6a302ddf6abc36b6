//! Downloads from a local server that behaves well or badly.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sha2::{Digest, Sha256};
use ssdl_data::known::{Known, KnownFile, fetch};
use ssdl_data::{Error, Result};

/// What the server does with a request: its number (from 0), the start of the range it asks for.
type Behaviour = fn(&mut TcpStream, usize, Option<u64>, &[u8]);

/// A server for one file: its address, and the number of requests so far.
fn serve(content: Vec<u8>, behave: Behaviour) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/file.gz", listener.local_addr().unwrap());
    let (count, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let shared = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let (content, count, seen) = (content.clone(), count.clone(), shared.clone());
            thread::spawn(move || {
                let range = request(&stream);
                seen.fetch_add(1, Ordering::SeqCst);
                behave(&mut stream, count.fetch_add(1, Ordering::SeqCst), range, &content);
            });
        }
    });
    (address, seen)
}

/// Reads a request; the first byte of the range it asks for.
fn request(stream: &TcpStream) -> Option<u64> {
    let mut range = None;
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap_or_default().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(wanted) = line.strip_prefix("range: bytes=") {
            range = wanted.trim_end_matches('-').parse().ok();
        }
    }
    range
}

fn answer(stream: &mut TcpStream, head: &str, length: usize, body: &[u8]) {
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// Sends the file, from the requested byte.
fn behave_well(stream: &mut TcpStream, _: usize, range: Option<u64>, content: &[u8]) {
    match range {
        None => answer(stream, "200 OK", content.len(), content),
        Some(from) => {
            let rest = &content[from as usize..];
            let all = content.len();
            let head = format!("206 Partial\r\nContent-Range: bytes {from}-{}/{all}", all - 1);
            answer(stream, &head, rest.len(), rest);
        }
    }
}

fn content() -> Vec<u8> {
    (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn set_at(address: &str, bytes: u64, sha256: String) -> &'static Known {
    let file = KnownFile {
        path: "set/file.gz",
        address: Box::leak(address.to_owned().into_boxed_str()),
        bytes,
        sha256: Box::leak(sha256.into_boxed_str()),
    };
    let files = Box::leak(vec![file].into_boxed_slice());
    Box::leak(Box::new(Known { name: "set", title: "", source: "", licence: "", files }))
}

fn set(address: &str) -> &'static Known {
    let content = content();
    let digest = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    set_at(address, content.len() as u64, digest)
}

fn get(set: &Known, folder: &Path) -> Result<u64> {
    fetch(set, folder, &mut |_, _, _| {}).map(|got| got[0].downloaded)
}

/// Names of the files in the folder of the set.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("set")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_good_file_is_downloaded_once_and_then_only_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (address, seen) = serve(content(), behave_well);
    let mut last = (0, 0);
    let got = fetch(set(&address), folder.path(), &mut |_, done, all| last = (done, all)).unwrap();
    assert_eq!((got[0].downloaded, last), (300_000, (300_000, 300_000)));
    assert_eq!(fs::read(&got[0].path).unwrap(), content());
    assert_eq!(get(set(&address), folder.path()).unwrap(), 0);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    assert_eq!(files_in(folder.path()), ["file.gz"]);
}

#[test]
fn an_interrupted_download_resumes_where_it_ended() {
    let (address, seen) = serve(content(), |stream, number, range, content| match number {
        0 => answer(stream, "200 OK", content.len(), &content[..100_000]),
        _ => behave_well(stream, number, range, content),
    });
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(get(set(&address), folder.path()).unwrap(), 300_000);
    assert_eq!(seen.load(Ordering::SeqCst), 2);
    assert_eq!(fs::read(folder.path().join("set/file.gz")).unwrap(), content());
}

#[test]
fn a_partial_download_is_kept_for_the_next_command() {
    let (address, _) = serve(content(), |stream, _, range, content| {
        // A tenth at a time, and never the end.
        let from = range.unwrap_or(0) as usize;
        let head = match range {
            None => "200 OK".to_owned(),
            Some(_) => format!("206 Partial\r\nContent-Range: bytes {from}-299999/300000"),
        };
        answer(stream, &head, content.len() - from, &content[from..(from + 30_000).min(300_000)]);
    });
    let folder = tempfile::tempdir().unwrap();
    let error = get(set(&address), folder.path()).expect_err("interrupted each time");
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert!(error.to_string().contains("run the same command again to resume"));
    assert_eq!(fs::metadata(folder.path().join("set/file.gz.part")).unwrap().len(), 120_000);
    let (address, _) = serve(content(), behave_well);
    assert_eq!(get(set(&address), folder.path()).unwrap(), 180_000);
    assert_eq!(files_in(folder.path()), ["file.gz"]);
}

#[test]
fn a_server_that_cannot_resume_starts_again() {
    let (address, _) = serve(content(), |stream, number, _, content| match number {
        0 => answer(stream, "200 OK", content.len(), &content[..100_000]),
        _ => answer(stream, "200 OK", content.len(), content),
    });
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(get(set(&address), folder.path()).unwrap(), 400_000);
    assert_eq!(fs::read(folder.path().join("set/file.gz")).unwrap(), content());
}

#[test]
fn a_wrong_file_is_neither_accepted_nor_kept() {
    let (address, _) = serve(content(), behave_well);
    let folder = tempfile::tempdir().unwrap();
    let wrong = set_at(&address, 300_000, "0".repeat(64));
    let error = get(wrong, folder.path()).expect_err("digest");
    assert!(matches!(error, Error::WrongDigest { .. }), "{error}");
    assert!(
        !files_in(folder.path()).iter().any(|name| name.ends_with("gz") || name.ends_with("part"))
    );
}

#[test]
fn an_existing_file_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("set")).unwrap();
    fs::write(folder.path().join("set/file.gz"), "mine").unwrap();
    let (address, seen) = serve(content(), behave_well);
    let error = get(set(&address), folder.path()).expect_err("wrong digest");
    assert!(error.to_string().contains("move it away"), "{error}");
    assert_eq!(fs::read(folder.path().join("set/file.gz")).unwrap(), b"mine");
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[test]
fn more_bytes_than_expected_are_refused() {
    let (address, _) = serve(content(), behave_well);
    let folder = tempfile::tempdir().unwrap();
    let smaller = set_at(&address, 1000, "0".repeat(64));
    let error = get(smaller, folder.path()).expect_err("larger");
    assert!(error.to_string().contains("more than 1000 bytes"), "{error}");
    assert!(!files_in(folder.path()).iter().any(|name| name.ends_with("part")));
}

#[test]
fn redirects_are_followed_and_refusals_reported() {
    let (address, _) = serve(content(), behave_well);
    let target = Box::leak(format!("302 Found\r\nLocation: {address}").into_boxed_str());
    static MOVED: std::sync::OnceLock<&'static str> = std::sync::OnceLock::new();
    MOVED.set(target).unwrap();
    let (moved, _) = serve(Vec::new(), |stream, _, _, _| {
        answer(stream, MOVED.get().unwrap(), 0, &[]);
    });
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(get(set(&moved), folder.path()).unwrap(), 300_000);

    let (gone, _) = serve(Vec::new(), |stream, _, _, _| answer(stream, "404 Not Found", 0, &[]));
    let other = tempfile::tempdir().unwrap();
    let error = get(set(&gone), other.path()).expect_err("404");
    assert!(error.to_string().contains("404"), "{error}");

    let no_server = set("http://127.0.0.1:9/file.gz");
    let error = get(no_server, other.path()).expect_err("no server");
    assert!(matches!(error, Error::Download { .. }), "{error}");
}

#[test]
fn two_downloads_at_once_wait_for_each_other() {
    let (address, seen) = serve(content(), |stream, number, range, content| {
        thread::sleep(std::time::Duration::from_millis(150));
        behave_well(stream, number, range, content);
    });
    let folder = tempfile::tempdir().unwrap();
    let both: Vec<u64> = thread::scope(|scope| {
        let one = || scope.spawn(|| get(set(&address), folder.path()).unwrap());
        let (a, b) = (one(), one());
        vec![a.join().unwrap(), b.join().unwrap()]
    });
    assert_eq!(both.iter().sum::<u64>(), 300_000);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("set"), "a file where the folder should be").unwrap();
    let error = get(set("http://127.0.0.1:9/file.gz"), folder.path()).expect_err("no folder");
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_with_the_file() {
    let (address, _) = serve(content(), behave_well);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("set")).unwrap();
    // A file that is always full.
    let partial = folder.path().join("set/file.gz.part");
    std::os::unix::fs::symlink("/dev/full", &partial).unwrap();
    let error = get(set(&address), folder.path()).expect_err("no space").to_string();
    assert!(error.contains("file.gz.part") && error.contains("No space left"), "{error}");
    assert!(!folder.path().join("set/file.gz").exists());
    fs::remove_file(partial).unwrap();
    assert_eq!(get(set(&address), folder.path()).unwrap(), 300_000);
}
