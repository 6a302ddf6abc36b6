//! As much of HTTP as a page needs: requests of bounded size in bounded time, answers, and a stream
//! of events.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum number of bytes of a request before its body.
const MOST_HEAD: usize = 16 << 10;
/// Maximum number of bytes of a body.
pub const MOST_BODY: usize = 256 << 10;
/// Maximum number of headers.
const MOST_HEADERS: usize = 64;
/// Time that a request may take to arrive, once it has begun.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time after which a connection without requests is closed.
const IDLE: Duration = Duration::from_secs(60);

/// A request.
#[derive(Debug, Default)]
pub struct Request {
    /// Such as `GET`.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The query, decoded.
    pub query: HashMap<String, String>,
    /// Headers, their names in lower case.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Why there is no request.
#[derive(Debug)]
pub enum Fault {
    /// The other side has gone or is too slow: nothing to answer.
    Closed,
    /// What arrived is not acceptable: the status to answer with.
    Refused(u16, &'static str),
}

impl From<io::Error> for Fault {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// A connection, and what has arrived of the next request.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// A connection on this stream.
    pub fn new(stream: TcpStream) -> Self {
        // Answers are small and awaited.
        let _ = stream.set_nodelay(true);
        let _ = stream.set_write_timeout(Some(PATIENCE));
        Self { stream, buffer: Vec::new() }
    }

    /// Waits for more bytes, at most until the deadline.
    fn fill(&mut self, deadline: Instant) -> Result<(), Fault> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Fault::Closed);
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut part = [0; 8192];
        match self.stream.read(&mut part)? {
            0 => Err(Fault::Closed),
            count => {
                self.buffer.extend_from_slice(&part[..count]);
                Ok(())
            }
        }
    }

    /// The next request.
    ///
    /// # Errors
    /// If none arrives in time, or it is too large or malformed.
    pub fn request(&mut self) -> Result<Request, Fault> {
        if self.buffer.is_empty() {
            self.fill(Instant::now() + IDLE)?;
        }
        let deadline = Instant::now() + PATIENCE;
        let (mut request, length) = loop {
            if let Some(found) = head(&self.buffer)? {
                break found;
            }
            if self.buffer.len() > MOST_HEAD {
                return Err(Fault::Refused(431, "the headers are too large"));
            }
            self.fill(deadline)?;
        };
        self.buffer.drain(..length);
        if request.headers.contains_key("transfer-encoding") {
            return Err(Fault::Refused(411, "the length of the body is missing"));
        }
        let expected = match request.header("content-length").map(str::parse::<usize>) {
            None => 0,
            Some(Ok(length)) if length <= MOST_BODY => length,
            Some(Ok(_)) => return Err(Fault::Refused(413, "the body is too large")),
            Some(Err(_)) => return Err(Fault::Refused(400, "the length is not a number")),
        };
        while self.buffer.len() < expected {
            self.fill(deadline)?;
        }
        request.body = self.buffer.drain(..expected).collect();
        Ok(request)
    }

    /// Sends an answer.
    ///
    /// # Errors
    /// If the other side has gone.
    pub fn answer(&mut self, response: &Response, close: bool) -> io::Result<()> {
        let mut head = response.head();
        head += &format!("Content-Length: {}\r\n", response.body.len());
        head += if close { "Connection: close\r\n\r\n" } else { "Connection: keep-alive\r\n\r\n" };
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(&response.body)
    }

    /// Begins a stream of events.
    ///
    /// # Errors
    /// If the other side has gone.
    pub fn begin_events(&mut self) -> io::Result<()> {
        let mut response = Response::new(200, "text/event-stream", Vec::new());
        response.headers.push(("Cache-Control", "no-store".into()));
        let head = response.head() + "Connection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes())
    }

    /// Sends an event; an empty text only shows that the connection lives.
    ///
    /// # Errors
    /// If the other side has gone.
    pub fn event(&mut self, text: &str) -> io::Result<()> {
        let line = if text.is_empty() { ":\n\n".to_owned() } else { format!("data: {text}\n\n") };
        self.stream.write_all(line.as_bytes())
    }
}

/// The head of a request and its length, once it has arrived.
fn head(bytes: &[u8]) -> Result<Option<(Request, usize)>, Fault> {
    let malformed = Fault::Refused(400, "this is not a request");
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(malformed),
    };
    let mut found = HashMap::new();
    for header in parsed.headers.iter() {
        let Ok(value) = std::str::from_utf8(header.value) else { return Err(malformed) };
        // Two hosts or lengths mean that somebody plays one server against another.
        if found.insert(header.name.to_ascii_lowercase(), value.trim().to_owned()).is_some()
            && ["host", "origin", "content-length", "x-token"]
                .contains(&header.name.to_ascii_lowercase().as_str())
        {
            return Err(malformed);
        }
    }
    let (path, query) = target(parsed.path.unwrap_or_default());
    let method = parsed.method.unwrap_or_default().to_owned();
    Ok(Some((Request { method, path, query, headers: found, body: Vec::new() }, length)))
}

/// Path and query of a target.
fn target(text: &str) -> (String, HashMap<String, String>) {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect();
    (path.to_owned(), query)
}

/// Text with `%41` and `+` replaced by what they stand for.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match (bytes[at], hex.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                found.push(byte);
                at += 2;
            }
            (b'+', _) => found.push(b' '),
            (other, _) => found.push(other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&found).into_owned()
}

/// An answer.
pub struct Response {
    status: u16,
    kind: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    /// An answer of this type.
    #[must_use]
    pub fn new(status: u16, kind: &'static str, body: Vec<u8>) -> Self {
        Self { status, kind, headers: Vec::new(), body }
    }

    /// A sentence.
    #[must_use]
    pub fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.as_bytes().to_vec())
    }

    /// JSON.
    #[must_use]
    pub fn json(value: &serde_json::Value) -> Self {
        Self::new(200, "application/json", value.to_string().into_bytes())
    }

    /// Everything before the length. The page may load nothing from elsewhere, be shown in no frame,
    /// and tell nobody its address, which holds the token.
    fn head(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            413 => "Content Too Large",
            429 => "Too Many Requests",
            503 => "Service Unavailable",
            _ => "Refused",
        };
        let mut head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
             img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n",
            self.status, self.kind
        );
        if !self.headers.iter().any(|(name, _)| *name == "Cache-Control") {
            head += "Cache-Control: no-store\r\n";
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_decoded() {
        let (path, query) = target("/grid?class=a%20b%26+c&token=1&odd=%zz%");
        assert_eq!(path, "/grid");
        assert_eq!((query["class"].as_str(), query["odd"].as_str()), ("a b& c", "%zz%"));
    }

    #[test]
    fn heads_arrive_in_parts_and_doubled_hosts_are_refused() {
        let whole = b"GET /?a=1 HTTP/1.1\r\nHost: x\r\n\r\n";
        for cut in 0..whole.len() {
            assert!(matches!(head(&whole[..cut]), Ok(None)), "{cut}");
        }
        let (request, length) = head(whole).expect("fine").expect("whole");
        assert_eq!((request.header("host"), length), (Some("x"), whole.len()));
        let double = b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n";
        assert!(matches!(head(double), Err(Fault::Refused(400, _))));
        assert!(matches!(head(b"\x16\x03\x01\r\n\r\n"), Err(Fault::Refused(400, _))));
    }
}
