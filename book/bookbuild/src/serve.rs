//! `--watch`: a small local server for an author. Pages reload when the book was built again.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result};

use crate::make::{Options, make};
use crate::repo_paths::files_under;
use crate::{Problems, RepoPaths};

/// Interval between checks for changed files.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Time without changes before the book is built.
const QUIET_TIME: Duration = Duration::from_millis(40);
/// Interval of keep-alive messages to a page, which detect a closed connection.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Address from which pages receive events.
const EVENTS: &str = "/~changes";

/// Appended to every page that is served; the files on disk don't have it.
const SCRIPT: &str = r#"<script>
(() => {
    const events = new EventSource("/~changes");
    let first = null;
    events.addEventListener("built", (event) => {
        if (first !== null && first !== event.data) location.reload();
        first = event.data;
        document.getElementById("bookbuild-problems")?.remove();
    });
    events.addEventListener("problems", (event) => {
        document.getElementById("bookbuild-problems")?.remove();
        const box = document.createElement("pre");
        box.id = "bookbuild-problems";
        box.textContent = JSON.parse(event.data);
        box.style = "position:fixed;inset:auto 0 0 0;max-height:40vh;overflow:auto;margin:0;padding:1em;"
            + "z-index:1000;background:#7f1d1d;color:#fff;white-space:pre-wrap;font-size:14px";
        document.body.append(box);
    });
})();
</script>
"#;

#[derive(Default)]
struct BuildState {
    n_built: u64,
    /// Problems of the last build; `None` if it succeeded.
    problems: Option<String>,
    /// Number of builds, successful or not.
    n_events: u64,
}

struct Server {
    folder: RwLock<PathBuf>,
    state: Mutex<BuildState>,
    changed: Condvar,
}

/// Builds the book, serves it on `port` of this machine, and builds it again whenever a file of it changes, until
/// interrupted. Calls `ready` with the address.
///
/// # Errors
/// Returns an error if the port is in use, or the first build could not run.
pub fn watch(repo: &RepoPaths, options: &Options, port: u16, ready: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .with_context(|| format!("port {port} is taken; choose another with --port N"))?;
    let address = format!("http://{}/", listener.local_addr()?);
    let server = Arc::new(Server { folder: RwLock::default(), state: Mutex::default(), changed: Condvar::new() });
    let mut seen = file_times(repo);
    build(repo, options, &server)?;
    let accepting = Arc::clone(&server);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(&accepting);
            std::thread::spawn(move || drop(respond_to(&server, stream)));
        }
    });
    ready(&address)?;
    loop {
        std::thread::sleep(POLL_INTERVAL);
        let mut now = file_times(repo);
        if now != seen {
            // An editor may still be writing.
            loop {
                std::thread::sleep(QUIET_TIME);
                let later = file_times(repo);
                if later == std::mem::replace(&mut now, later.clone()) {
                    break;
                }
            }
            build(repo, options, &server)?;
            // Adds files that only the last build has read; a file that changed meanwhile differs from `now`.
            seen = now;
            for (path, time) in file_times(repo) {
                seen.entry(path).or_insert(time);
            }
        }
    }
}

/// Returns the modification time and length of each file of the book.
fn file_times(repo: &RepoPaths) -> BTreeMap<PathBuf, Option<(SystemTime, u64)>> {
    let mut files: Vec<PathBuf> = repo.all_read().into_iter().collect();
    for folder in [repo.chapters(), repo.book().join("theme"), repo.data()] {
        // A folder may be missing or removed meanwhile; that is a change too.
        files.extend(files_under(&folder).unwrap_or_default());
    }
    files.push(repo.book().join("book.toml"));
    let time = |path: &Path| {
        let data = path.metadata().ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    files.into_iter().map(|path| (path.clone(), time(&path))).collect()
}

#[expect(clippy::print_stderr, reason = "somebody watches")]
fn build(repo: &RepoPaths, options: &Options, server: &Server) -> Result<()> {
    let start = Instant::now();
    // The lock keeps pages of a half-written book from being served.
    let mut folder = server.folder.write().unwrap_or_else(|e| e.into_inner());
    let built = make(repo, options);
    let mut state = server.state.lock().unwrap_or_else(|e| e.into_inner());
    state.problems = None;
    match built {
        Ok(made) => {
            *folder = made.folder;
            state.n_built += 1;
            for problem in &made.findings.problems {
                eprintln!("draft: {problem}");
            }
            eprintln!("built in {:.1} s", start.elapsed().as_secs_f64());
        }
        Err(error) => {
            let text = match error.downcast_ref::<Problems>() {
                Some(problems) => problems.to_string(),
                None => format!("error: {error:#}"),
            };
            eprintln!("{text}");
            state.problems = Some(text);
        }
    }
    state.n_events += 1;
    server.changed.notify_all();
    Ok(())
}

/// Handles one request. An I/O error means that the reader closed the connection.
fn respond_to(server: &Server, stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let target = request.split_whitespace().nth(1).unwrap_or("/").to_owned();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    if target == EVENTS {
        return events(server, stream);
    }
    let folder = server.folder.read().unwrap_or_else(|e| e.into_inner());
    let path = target.split(['?', '#']).next().unwrap_or("/");
    let relative = path.trim_start_matches('/');
    let mut file = crate::repo_paths::flat(&folder.join(relative));
    if file.is_dir() {
        file.push("index.html");
    }
    // Files outside of the book's folder are not served.
    let body = if file.starts_with(&*folder) { std::fs::read(&file) } else { Err(std::io::ErrorKind::NotFound.into()) };
    match body {
        Ok(mut body) => {
            let kind = content_type(&file);
            if kind.starts_with("text/html") {
                body.extend_from_slice(SCRIPT.as_bytes());
            }
            respond(stream, "200 OK", kind, &body)
        }
        Err(_) => {
            let text = format!("<!DOCTYPE html><p>The book has no page {}.</p>{SCRIPT}", catalog::text::escaped(path));
            respond(stream, "404 Not Found", "text/html; charset=utf-8", text.as_bytes())
        }
    }
}

fn respond(mut stream: TcpStream, status: &str, kind: &str, body: &[u8]) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}

/// Sends an event to a page after every build, as long as the page is open.
fn events(server: &Server, mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
    )?;
    let mut n_sent = 0;
    let mut state = server.state.lock().unwrap_or_else(|e| e.into_inner());
    loop {
        let text = match (&state.problems, state.n_events == n_sent) {
            (_, true) => ":\n\n".to_owned(),
            (None, false) => format!("event: built\ndata: {}\n\n", state.n_built),
            (Some(problems), false) => {
                let problems = serde_json::Value::from(problems.as_str());
                format!("event: problems\ndata: {problems}\n\n")
            }
        };
        n_sent = state.n_events;
        drop(state);
        stream.write_all(text.as_bytes())?;
        stream.flush()?;
        state = server.state.lock().unwrap_or_else(|e| e.into_inner());
        if state.n_events == n_sent {
            state = match server.changed.wait_timeout(state, KEEP_ALIVE) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("wasm") => "application/wasm",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
