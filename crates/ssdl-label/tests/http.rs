//! The server over the loopback: who may ask, what is refused, and that nothing acknowledged is lost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use ssdl::{Matrix, Signal};
use ssdl_data::{Images, ReadOptions, Table};
use ssdl_label::{Material, Options, Server, journal, labels_of_journal};

/// Two clouds of rows.
fn rows() -> Table {
    let features = Matrix::from_fn(3, 60, |i, j| {
        (if j % 2 == 0 { 5.0 } else { -5.0 }) + ((7 * j + 3 * i) as f64).sin()
    });
    let names = ["length", "<b>width", "height"].map(str::to_owned);
    Table { feature_names: Some(names.to_vec()), ..Table::of(features) }
}

fn options(folder: &Path, people: &[&str]) -> Options {
    Options {
        labels: folder.join("labels.csv"),
        model: None,
        classes: vec!["even".into(), "odd".into()],
        people: people.iter().map(|name| (*name).to_owned()).collect(),
        listen: None,
        overlap: 0.0,
        seed: 0,
        threads: 1,
        command: "ssdl fit rows.csv".into(),
        report: None,
        stop: Signal::default(),
    }
}

/// A server that runs until it is dropped.
struct Running {
    host: String,
    token: String,
    stop: Signal,
    thread: Option<JoinHandle<ssdl_label::Result<()>>>,
}

impl Running {
    fn start(material: Material, options: Options) -> Self {
        let stop = options.stop.clone();
        let server = Server::start(material, options).expect("started");
        let address = server.addresses()[0].1.clone();
        let (host, token) = address
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once("/?token="))
            .expect("an address with a token");
        let (host, token) = (host.to_owned(), token.to_owned());
        let thread = Some(std::thread::spawn(move || server.run()));
        Self { host, token, stop, thread }
    }

    fn of_rows(folder: &Path) -> Self {
        Self::start(Material::of_table(Path::new("rows"), rows(), None), options(folder, &["me"]))
    }

    /// Sends bytes; the status, the head and the body of the answer.
    fn raw(&self, bytes: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.host).expect("connected");
        // What is refused early may not be read to its end.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        (status, head, answer[end + 4..].to_vec())
    }

    fn request(&self, line: &str, headers: &str, body: &str) -> (u16, String, Vec<u8>) {
        let (host, length) = (&self.host, body.len());
        self.raw(
            format!(
                "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
                 Content-Length: {length}\r\n{headers}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    fn get(&self, path: &str) -> (u16, String, Vec<u8>) {
        self.request(&format!("GET {path}"), &format!("X-Token: {}\r\n", self.token), "")
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let token = format!("X-Token: {}\r\n", self.token);
        let (status, _, bytes) = self.request(&format!("POST {path}"), &token, &body.to_string());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::String(text)))
    }

    fn label(&self, id: &str, sample: usize, label: &str) -> (u16, Value) {
        let answers = json!([{ "sample": sample, "verdict": { "label": label } }]);
        self.post(
            "/answer",
            &json!({ "entries": [{ "id": id, "act": "answer", "answers": answers }] }),
        )
    }

    fn news(&self) -> Value {
        let (_, _, body) = self.get("/state");
        let state: Value = serde_json::from_slice(&body).expect("JSON");
        state["news"].clone()
    }

    fn labelled(&self) -> u64 {
        self.news()["progress"]["labelled"].as_u64().expect("a number")
    }

    /// What the page is told once so many fits have ended.
    fn after_fits(&self, fits: u64) -> Value {
        for _ in 0..1000 {
            let news = self.news();
            if news["refit"].as_u64() >= Some(fits) && news["fitting"] == json!(false) {
                return news;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("no fit {fits}: {}", self.news());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let outcome = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || matches!(outcome, Some(Ok(Ok(())))));
    }
}

#[test]
fn strangers_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::of_rows(folder.path());
    let token = format!("X-Token: {}\r\n", server.token);
    let wrong = format!("X-Token: {}\r\n", "0".repeat(32));
    let own = format!("{token}Origin: http://{}\r\n", server.host);
    let foreign = format!("{token}Origin: http://evil.example\r\n");
    let other_port = format!("{token}Origin: http://127.0.0.1:1\r\n");
    let cross = format!("{token}Sec-Fetch-Site: cross-site\r\n");
    let cases = [
        ("GET /state", "", 403),
        ("GET /", "", 403),
        ("GET /script.js", "", 403),
        ("GET /picture/0", "", 403),
        ("GET /events", "", 403),
        ("GET /state", &wrong, 403),
        ("GET /state", &foreign, 403),
        ("POST /answer", &foreign, 403),
        ("POST /answer", &other_port, 403),
        ("GET /state", &cross, 403),
        ("GET /state", &own, 200),
        ("GET /state", &token, 200),
    ];
    for (line, headers, expected) in cases {
        assert_eq!(server.request(line, headers, "").0, expected, "{line} {headers}");
    }
    let renamed =
        format!("GET /state HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n{token}\r\n");
    assert_eq!(server.raw(renamed.as_bytes()).0, 403);
    let (status, head, _) = server.get(&format!("/?token={}", server.token));
    assert_eq!(status, 200);
    for part in
        ["default-src 'none'", "frame-ancestors 'none'", "nosniff", "no-referrer", "no-store"]
    {
        assert!(head.contains(part), "{part}: {head}");
    }
}

#[test]
fn paths_sizes_and_nonsense_are_refused_and_the_server_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::of_rows(folder.path());
    let paths = [
        "/../../etc/passwd",
        "/picture/../../../etc/passwd",
        "/picture/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/picture//etc/passwd",
        "/picture/99999",
        "/item/-1",
        "/labels.csv",
        "/labels.journal.key",
    ];
    for path in paths {
        let (status, _, body) = server.get(path);
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(status == 404 || status == 400, "{path}: {status}");
        assert!(!body.contains("root:") && !body.contains(&server.token), "{path}: {body}");
    }
    let host = &server.host;
    let large = format!("POST /answer HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9999999\r\n\r\n");
    assert_eq!(server.raw(large.as_bytes()).0, 413);
    let long = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "x".repeat(40_000));
    assert_eq!(server.raw(long.as_bytes()).0, 431);
    let parts =
        format!("POST /answer HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(server.raw(parts.as_bytes()).0, 411);
    assert_eq!(server.raw(b"\x16\x03\x01 hello\r\n\r\n").0, 400);
    assert_eq!(server.get("/nothing").0, 404);
    let token = format!("X-Token: {}\r\n", server.token);
    assert_eq!(server.request("DELETE /state", &token, "").0, 405);
    for body in [
        json!({ "entries": [{ "id": "a b", "act": "undo" }] }),
        json!({ "entries": [{ "id": "a", "act": "answer", "answers": [] }] }),
        json!({ "entries": [{ "id": "a", "act": "answer", "answers": [{ "sample": 60, "verdict": "skipped" }] }] }),
        json!({ "entries": 1 }),
        json!({ "entries": [], "have": [60] }),
    ] {
        assert_eq!(server.post("/answer", &body).0, 400, "{body}");
    }
    for class in ["", " a", "NA", "-1", "nan", "a\nb", &"x".repeat(300)] {
        assert_eq!(server.label("bad", 0, class).0, 400, "{class}");
    }
    assert_eq!(server.label("good", 0, "<script>").0, 200);
    assert_eq!(server.labelled(), 1);
}

#[test]
fn answers_are_on_the_disk_when_they_are_saved_and_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("labels.journal.jsonl");
    let server = Running::of_rows(folder.path());
    for sample in 0..20 {
        let (status, answer) =
            server.label(&format!("id-{sample}"), sample, ["even", "odd"][sample % 2]);
        assert_eq!((status, &answer["saved"][0]), (200, &json!(format!("id-{sample}"))));
        let last = journal::read(&path).expect("read").last().expect("one").id.clone();
        assert_eq!(last, format!("id-{sample}"));
    }
    server.label("id-3", 3, "even");
    assert_eq!(server.labelled(), 20);
    let undo = |id: &str| json!({ "entries": [{ "id": id, "act": "undo" }] });
    let (_, answer) = server.post("/answer", &undo("u1"));
    assert_eq!(answer["undid"][0]["samples"], json!([19]));
    // Sent again after the connection broke: one undo, not two.
    server.post("/answer", &undo("u1"));
    assert_eq!(server.labelled(), 19);
    let (host, token) = (server.host.clone(), server.token.clone());
    drop(server);
    // The page finds the server again, and undoes what was answered before.
    let server = Running::of_rows(folder.path());
    assert_eq!((&server.host, &server.token), (&host, &token));
    assert_eq!(server.labelled(), 19);
    server.post("/answer", &undo("u2"));
    let (_, answer) =
        server.post("/answer", &json!({ "entries": [{ "id": "r1", "act": "redo" }] }));
    assert_eq!(answer["undid"][0]["samples"], json!([18]));
    assert_eq!(server.labelled(), 19);
    drop(server);
    let table = rows();
    let hash = |at: usize| Ok(ssdl_label::digest_of_row(&table.content(at)));
    let found = labels_of_journal(&path, 60, &|_| None, &hash).expect("read");
    assert_eq!(found.labels.iter().flatten().count(), 19);
    let written = ssdl_data::read_labels(folder.path().join("labels.csv"), &ReadOptions::default());
    assert_eq!(written.expect("written"), found.labels);
}

#[test]
fn changed_samples_are_refused_by_name_and_a_second_server_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::of_rows(folder.path());
    server.label("a", 7, "even");
    let material = || Material::of_table(Path::new("rows"), rows(), None);
    let second = Server::start(material(), options(folder.path(), &["me"])).err().expect("locked");
    assert!(second.to_string().contains("another `ssdl label`"), "{second}");
    drop(server);
    let mut other = rows();
    other.features.column_mut(7)[1] += 1.0;
    let changed = Material::of_table(Path::new("rows"), other, None);
    let error = Server::start(changed, options(folder.path(), &["me"])).err().expect("changed");
    assert!(error.to_string().contains("sample 7"), "{error}");
}

#[test]
fn images_are_served_as_they_are_and_folders_by_class_stay_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = folder.path().join("images");
    std::fs::create_dir(&images).expect("made");
    // A portable grey map: browsers do not know it.
    let pixels: Vec<u8> = (0..6 * 4).map(|at| 10 * at).collect();
    for at in 0..3 {
        let bytes = [b"P5\n6 4\n255\n".as_slice(), &pixels].concat();
        std::fs::write(images.join(format!("{at}.pgm")), bytes).expect("written");
    }
    std::fs::write(images.join("9.png"), b"\x89PNG broken").expect("written");
    let listed = Images::list(&images, &ReadOptions::default()).expect("listed");
    let material = Material::of_images(&images, listed, None).expect("images");
    assert_eq!(material.image, Some([4, 6]));
    let server = Running::start(material, options(folder.path(), &["me"]));
    let (status, head, body) = server.get("/picture/0");
    assert!(status == 200 && head.contains("image/png") && body.starts_with(b"\x89PNG"), "{head}");
    server.label("a", 0, "../../out");
    server.label("b", 1, "even");
    let (status, answer) = server.post("/leave", &json!({ "what": "folder" }));
    assert_eq!(status, 200, "{answer}");
    let classes: Vec<String> = std::fs::read_dir(folder.path().join("labels-by-class"))
        .expect("made")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(classes.len(), 2);
    assert!(classes.contains(&"%2E.%2F..%2Fout".to_owned()), "{classes:?}");
    assert!(!folder.path().join("out").exists());
    assert_eq!(server.post("/leave", &json!({ "what": "../x" })).0, 400);
}

#[test]
fn learning_goes_on_after_labels_could_not_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = folder.path().join("images");
    std::fs::create_dir(&images).expect("made");
    for at in 0..20_u8 {
        let pixels: Vec<u8> = (0..6 * 4).map(|k| (at % 2) * 100 + at + k).collect();
        let bytes = [b"P5\n6 4\n255\n".as_slice(), &pixels].concat();
        std::fs::write(images.join(format!("{at:02}.pgm")), bytes).expect("written");
    }
    std::fs::write(images.join("99.png"), b"\x89PNG broken").expect("written");
    let listed = Images::list(&images, &ReadOptions::default()).expect("listed");
    let material = Material::of_images(&images, listed, None).expect("images");
    let server = Running::start(material, options(folder.path(), &["me"]));
    let label = |from: usize| {
        for at in from..from + 10 {
            assert_eq!(server.label(&format!("id-{at}"), at, ["even", "odd"][at % 2]).0, 200);
        }
    };
    // A folder in place of the file cannot be replaced by it.
    let labels = folder.path().join("labels.csv");
    std::fs::create_dir(&labels).expect("made");
    label(0);
    let note = server.after_fits(1)["note"].to_string();
    assert!(note.contains("labels.csv") && note.contains("99.png"), "{note}");
    std::fs::remove_dir(&labels).expect("removed");
    label(10);
    let note = server.after_fits(2)["note"].to_string();
    assert!(!note.contains("labels.csv") && note.contains("99.png"), "{note}");
    assert!(labels.is_file());
}
