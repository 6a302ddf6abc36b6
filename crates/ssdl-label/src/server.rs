//! The server: it opens the journal, listens, and answers until it is told to stop.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ssdl::Signal;

use crate::guard::{Guard, Keys};
use crate::http::{Connection, Fault, Response};
use crate::leave::{self, Report};
use crate::material::Material;
use crate::session::Session;
use crate::{Error, Result, background, opening, routes, said};

/// Maximum number of open connections.
const MOST_CONNECTIONS: usize = 128;
/// After so long, a stream of events shows that it lives.
const BEAT: Duration = Duration::from_secs(10);

/// Time between two events.
const PACE: Duration = Duration::from_millis(150);

/// What is not in the data.
pub struct Options {
    /// The file of labels; the journal lies beside it.
    pub labels: PathBuf,
    /// Where the model goes; `None`: beside the labels.
    pub model: Option<PathBuf>,
    /// Classes to begin with.
    pub classes: Vec<String>,
    /// Who labels; each gets an address.
    pub people: Vec<String>,
    /// Where to listen, such as `0.0.0.0:8080`; `None`: a free port of this machine alone.
    pub listen: Option<String>,
    /// Share of the samples that two people label.
    pub overlap: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads of a fit; 0: one per core.
    pub threads: usize,
    /// The command that fits the model again, without the labels and the model.
    pub command: String,
    /// Makes the report page.
    pub report: Option<Report>,
    /// Set when the server is to stop.
    pub stop: Signal,
}

/// What all threads share.
pub(crate) struct Shared {
    pub material: Material,
    pub session: Mutex<Session>,
    pub changed: Condvar,
    pub stop: Signal,
    pub guard: Guard,
    pub people: Vec<String>,
    pub labels: PathBuf,
    pub model: PathBuf,
    pub command: String,
    pub report: Option<Report>,
    pub seed: u64,
    pub threads: usize,
    /// Only one file is written at a time.
    pub writing: Mutex<()>,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes, or for this long.
    pub fn wait<'a>(
        &self,
        session: MutexGuard<'a, Session>,
        time: Duration,
    ) -> MutexGuard<'a, Session> {
        let waited = self.changed.wait_timeout(session, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Writes the file of labels as it is now.
    pub fn write_labels(&self) -> Result<()> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = self.lock().state.labels(self.material.len());
        leave::csv(&self.labels, &labels)
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    addresses: Vec<(String, String)>,
}

impl Server {
    /// Opens the journal and listens; nothing is answered before [`run`](Self::run).
    ///
    /// # Errors
    /// If the journal cannot be opened or does not fit the samples, or the address is not free.
    pub fn start(material: Material, options: Options) -> Result<Self> {
        check(&material, &options)?;
        let journal_path = opening::journal_beside(&options.labels);
        let (journal, state) =
            opening::open(&journal_path, &material, &options.labels, &options.classes)?;
        let keys_path = leave::beside(&options.labels, ".journal.key");
        let mut keys = Keys::load(&keys_path, &options.people)?;
        let (listener, name) = listen(options.listen.as_deref(), keys.port)?;
        let address = listener.local_addr().map_err(|error| refused("127.0.0.1", &error))?;
        keys.port = address.port();
        keys.save(&keys_path)?;
        let shown = match (&name, address.ip()) {
            (Some(name), _) => format!("{name}:{}", address.port()),
            (None, ip) if ip.is_unspecified() => format!("127.0.0.1:{}", address.port()),
            _ => address.to_string(),
        };
        let link = |person: &String| {
            (person.clone(), format!("http://{shown}/?token={}", keys.tokens[person]))
        };
        let addresses = options.people.iter().map(link).collect();
        let n_people = options.people.len();
        let session =
            Session::new(journal, state, material.len(), n_people, options.overlap, options.seed);
        let shared = Shared {
            guard: Guard::new(&keys, name, address),
            session: Mutex::new(session),
            changed: Condvar::new(),
            stop: options.stop,
            people: options.people,
            model: options.model.unwrap_or_else(|| leave::beside(&options.labels, ".ssdl")),
            labels: options.labels,
            command: options.command,
            report: options.report,
            seed: options.seed,
            threads: options.threads,
            writing: Mutex::new(()),
            material,
        };
        Ok(Self { listener, shared: Arc::new(shared), addresses })
    }

    /// Each person and the address of the page for this person.
    #[must_use]
    pub fn addresses(&self) -> &[(String, String)] {
        &self.addresses
    }

    /// Answers until the signal is set, then writes the labels.
    ///
    /// # Errors
    /// If the labels cannot be written; the journal has them.
    pub fn run(self) -> Result<()> {
        let Self { listener, shared, .. } = self;
        let learning = Arc::clone(&shared);
        std::thread::spawn(move || background::run(&learning));
        let address = listener.local_addr().ok();
        let accepting = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || accept(&listener, &accepting));
        while !shared.stop.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(50));
        }
        shared.changed.notify_all();
        let written = shared.write_labels();
        shared.lock().close();
        // Whoever waits for a connection notices only when there is one.
        if address.is_some_and(|own| TcpStream::connect(reachable(own)).is_ok()) {
            let _ = accepting.join();
        }
        written
    }
}

/// The address at which this machine reaches its own server.
fn reachable(own: SocketAddr) -> SocketAddr {
    match own.ip() {
        ip if ip.is_unspecified() && ip.is_ipv4() => (Ipv4Addr::LOCALHOST, own.port()).into(),
        ip if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, own.port()).into(),
        _ => own,
    }
}

fn check(material: &Material, options: &Options) -> Result<()> {
    let refuse = |text: &str| Err(Error::Refused(text.to_owned()));
    if material.is_empty() {
        return refuse("there are no samples to label");
    }
    if !(0.0..=1.0).contains(&options.overlap) {
        return refuse("--overlap is a share from 0 to 1, such as 0.1");
    }
    if options.people.is_empty() || options.people.iter().any(|name| name.trim().is_empty()) {
        return refuse("every person needs a name");
    }
    for name in &options.classes {
        if let Some(reason) = said::refused_class(name) {
            return Err(Error::Refused(format!("class `{name}`: {reason}")));
        }
    }
    Ok(())
}

fn refused(address: &str, error: &std::io::Error) -> Error {
    Error::Listen { address: address.to_owned(), reason: error.to_string() }
}

/// Listens, at the kept port if it is free; and the name of this machine, if it was given.
fn listen(address: Option<&str>, kept: u16) -> Result<(TcpListener, Option<String>)> {
    let Some(given) = address else {
        let again = TcpListener::bind(("127.0.0.1", kept));
        let listener = again.or_else(|_| TcpListener::bind(("127.0.0.1", 0)));
        return Ok((listener.map_err(|error| refused("127.0.0.1", &error))?, None));
    };
    let (host, port) = match given.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => (host, port.parse().unwrap_or(kept)),
        _ => (given, kept),
    };
    let bare = host.trim_matches(['[', ']']);
    let is_number = bare.parse::<std::net::IpAddr>().is_ok();
    let places: Vec<_> =
        (bare, port).to_socket_addrs().map_err(|error| refused(given, &error))?.collect();
    let listener = TcpListener::bind(&places[..]).map_err(|error| refused(given, &error))?;
    Ok((listener, (!is_number).then(|| bare.to_owned())))
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (shared, counter) = (Arc::clone(shared), Arc::clone(&open));
        let spawned = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
            converse(stream, &shared);
            counter.fetch_sub(1, Ordering::SeqCst);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Answers the requests of one connection.
fn converse(stream: TcpStream, shared: &Shared) {
    let mut connection = Connection::new(stream);
    loop {
        let request = match connection.request() {
            Ok(request) => request,
            Err(Fault::Closed) => return,
            Err(Fault::Refused(status, words)) => {
                let _ = connection.answer(&Response::text(status, words), true);
                return;
            }
        };
        let person = match shared.guard.person(&request) {
            Ok(person) => person,
            Err((status, words)) => {
                // Guessing tokens takes time.
                std::thread::sleep(Duration::from_millis(100));
                let _ = connection.answer(&Response::text(status, words), true);
                return;
            }
        };
        if request.path == "/events" && request.method == "GET" {
            let _ = tell_events(&mut connection, shared);
            return;
        }
        let close =
            request.header("connection").is_some_and(|word| word.eq_ignore_ascii_case("close"));
        let response = routes::respond(shared, person, &request);
        if connection.answer(&response, close).is_err() || close {
            return;
        }
    }
}

/// Sends how labelling goes whenever something changes.
fn tell_events(connection: &mut Connection, shared: &Shared) -> std::io::Result<()> {
    connection.begin_events()?;
    let mut known = 0;
    while !shared.stop.load(Ordering::SeqCst) {
        let mut session = shared.lock();
        if session.version == known {
            session = shared.wait(session, BEAT);
        }
        let text = match session.version == known {
            true => String::new(),
            false => routes::news(&session).to_string(),
        };
        known = session.version;
        drop(session);
        connection.event(&text)?;
        // Many answers in a row make one event.
        std::thread::sleep(PACE);
    }
    Ok(())
}

/// The last part of a path, for titles.
pub(crate) fn shown(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
