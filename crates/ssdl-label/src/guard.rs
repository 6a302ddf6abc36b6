//! Who may ask: the token, where a request comes from, and how often.

use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::http::Request;
use crate::{Error, Result};

/// Requests that a person may make at once, and then each second.
const BURST: f64 = 600.0;
const PER_SECOND: f64 = 200.0;

/// The port and the tokens of a journal: kept, so that an open page finds the server again after a
/// restart.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Keys {
    /// The port, 0 for any.
    pub port: u16,
    /// The token of each person.
    pub tokens: HashMap<String, String>,
}

impl Keys {
    /// The kept keys; new ones for who has none.
    pub fn load(path: &Path, people: &[String]) -> Result<Self> {
        let kept = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut keys: Self = kept.unwrap_or_default();
        keys.tokens.retain(|person, token| people.contains(person) && token.len() == 32);
        for person in people {
            if !keys.tokens.contains_key(person) {
                keys.tokens.insert(person.clone(), new_token()?);
            }
        }
        Ok(keys)
    }

    /// Keeps them, for the user's eyes only.
    pub fn save(&self, path: &Path) -> Result<()> {
        let refuse = |source| Error::io(path, source);
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let text =
            serde_json::to_string(self).map_err(|error| refuse(std::io::Error::other(error)))?;
        options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(refuse)
    }
}

fn new_token() -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Refused(format!("the system gives no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Checks requests.
pub(crate) struct Guard {
    /// Person and token.
    tokens: Vec<(String, String)>,
    /// A name under which the user lets others reach this machine.
    name: Option<String>,
    address: SocketAddr,
    /// For each person: requests left, and when that was.
    left: Mutex<HashMap<String, (f64, Instant)>>,
}

/// Why a request is refused: status and sentence.
pub(crate) type Refusal = (u16, &'static str);

impl Guard {
    pub fn new(keys: &Keys, name: Option<String>, address: SocketAddr) -> Self {
        let tokens = keys.tokens.iter().map(|(a, b)| (a.clone(), b.clone())).collect();
        Self { tokens, name, address, left: Mutex::default() }
    }

    /// Who makes a request.
    pub fn person(&self, request: &Request) -> std::result::Result<&str, Refusal> {
        let host = request.header("host").unwrap_or_default();
        if !self.is_own(host) {
            return Err((403, "this server has another name"));
        }
        if let Some(origin) = request.header("origin")
            && origin != format!("http://{host}")
        {
            return Err((403, "another page may not ask here"));
        }
        if let Some(site) = request.header("sec-fetch-site")
            && !["same-origin", "none"].contains(&site)
            // Who follows a link to the page itself comes from elsewhere.
            && !(request.path == "/" && request.header("sec-fetch-mode") == Some("navigate"))
        {
            return Err((403, "another page may not ask here"));
        }
        let given = request.header("x-token").or(request.query.get("token").map(String::as_str));
        let found = self.tokens.iter().find(|(_, token)| same(token, given.unwrap_or_default()));
        let Some((person, _)) = found else {
            return Err((
                403,
                "the token is missing or wrong: open the address that `ssdl label` printed",
            ));
        };
        if self.is_too_often(person) {
            return Err((429, "too many requests; wait a moment"));
        }
        Ok(person)
    }

    /// Whether a host is this server. Other names are refused, as any name can be made to point here;
    /// a number cannot.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let number: Option<IpAddr> = name.trim_matches(['[', ']']).parse().ok();
        let is_named = self.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
        let is_local = name.eq_ignore_ascii_case("localhost")
            || number.is_some_and(|number| number.is_loopback());
        let is_here = match self.address.ip() {
            own if own.is_loopback() => is_local,
            own if own.is_unspecified() => is_local || number.is_some(),
            own => number == Some(own),
        };
        port == Some(self.address.port()) && (is_named || is_here)
    }

    fn is_too_often(&self, person: &str) -> bool {
        let mut left = self.left.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        let (count, since) = left.entry(person.to_owned()).or_insert((BURST, now));
        *count = (*count + PER_SECOND * since.elapsed().as_secs_f64()).min(BURST) - 1.0;
        *since = now;
        let is_too_often = *count < 0.0;
        *count = count.max(-1.0);
        is_too_often
    }
}

/// Compares in the same time wherever texts differ.
fn same(one: &str, other: &str) -> bool {
    let differ = one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, name: Option<&str>) -> Guard {
        let tokens = HashMap::from([("me".to_owned(), "a".repeat(32))]);
        let keys = Keys { port: 0, tokens };
        Guard::new(&keys, name.map(str::to_owned), address.parse().expect("an address"))
    }

    #[test]
    fn only_numbers_and_the_given_name_are_hosts() {
        let own = guard("127.0.0.1:8000", None);
        for host in ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"] {
            assert!(own.is_own(host), "{host}");
        }
        for host in ["127.0.0.1:8001", "127.0.0.1", "evil.example:8000", "10.0.0.1:8000", ""] {
            assert!(!own.is_own(host), "{host}");
        }
        let open = guard("0.0.0.0:8000", Some("lab"));
        assert!(open.is_own("10.0.0.7:8000") && open.is_own("lab:8000"));
        assert!(!open.is_own("evil.example:8000"));
        let one = guard("10.0.0.7:8000", None);
        assert!(one.is_own("10.0.0.7:8000") && !one.is_own("127.0.0.1:8000"));
    }

    #[test]
    fn a_flood_is_stopped() {
        let own = guard("127.0.0.1:8000", None);
        let mut request = Request { path: "/".into(), ..Request::default() };
        request.headers.insert("host".into(), "127.0.0.1:8000".into());
        request.headers.insert("x-token".into(), "a".repeat(32));
        let refused = (0..5000).filter(|_| own.person(&request).is_err()).count();
        assert!(refused > 2000, "{refused}");
        request.headers.insert("x-token".into(), "a".repeat(31));
        assert_eq!(own.person(&request).expect_err("wrong").0, 403);
    }
}
