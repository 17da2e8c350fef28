//! Controls a headless Chromium by its DevTools protocol.
//!
//! With `--remote-debugging-pipe` the browser reads file descriptor 3 and writes 4: JSON and a zero byte.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// Longest wait for a reply; a page that takes longer hangs.
const REPLY_TIMEOUT: Duration = Duration::from_secs(120);

/// Waits until scripts that run after loading have finished.
pub(crate) const SETTLED: &str = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true), 60)))";

/// A tab of a browser process that this value owns.
pub(crate) struct Tab {
    browser: Child,
    profile: PathBuf,
    out: ChildStdin,
    messages: Receiver<Value>,
    session: String,
    n_sent: u64,
    /// Events received so far; callers may clear it.
    pub(crate) events: Vec<Value>,
}

pub(crate) fn find() -> Option<PathBuf> {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    NAMES.iter().find_map(|name| catalog::programs::on_path(name))
}

impl Tab {
    /// Starts a browser with a temporary profile.
    pub(crate) fn open(program: &Path) -> Result<Self> {
        let profile = std::env::temp_dir().join(format!("bookbuild-browser-{}", std::process::id()));
        std::fs::create_dir_all(&profile)?;
        let mut browser = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            // The browser loads only files of this repository; in containers it often is root, where its sandbox fails.
            .args(["--no-sandbox", "--disable-dev-shm-usage"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-extensions", "--hide-scrollbars", "--mute-audio"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting a shell")?;
        let out = browser.stdin.take().context("no pipe to the browser")?;
        let from = browser.stdout.take().context("no pipe from the browser")?;
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(from).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut tab = Self { browser, profile, out, messages, session: String::new(), n_sent: 0, events: Vec::new() };
        let target = tab.command("Target.createTarget", json!({"url": "about:blank"}))?;
        let params = json!({"targetId": target["targetId"], "flatten": true});
        let session = tab.command("Target.attachToTarget", params)?;
        tab.session = session["sessionId"].as_str().context("no session")?.to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            tab.command(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(tab)
    }

    /// Sends a command and waits for its result; events that arrive meanwhile are kept.
    pub(crate) fn command(&mut self, method: &str, params: Value) -> Result<Value> {
        self.n_sent += 1;
        let id = self.n_sent;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.out.write_all(&bytes).context("the browser has gone")?;
        self.out.flush()?;
        let answer = self.wait(method, |message| message["id"] == id)?;
        match answer["error"]["message"].as_str() {
            Some(why) => bail!("the browser refuses {method}: {why}"),
            None => Ok(answer["result"].clone()),
        }
    }

    pub(crate) fn event(&mut self, method: &str) -> Result<Value> {
        if let Some(index) = self.events.iter().position(|event| event["method"] == method) {
            return Ok(self.events.remove(index));
        }
        self.wait(method, |message| message["method"] == method)
    }

    fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
        let until = Instant::now() + REPLY_TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(message) if is_it(&message) => return Ok(message),
                Ok(message) => self.events.push(message),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the browser did not answer {what} in {REPLY_TIMEOUT:?}")
                }
                Err(RecvTimeoutError::Disconnected) => bail!("the browser ended while it was asked {what}"),
            }
        }
    }

    /// Evaluates an expression in the page, and awaits it if it is a promise.
    pub(crate) fn value(&mut self, expression: &str) -> Result<Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.command("Runtime.evaluate", params)?;
        match answer["exceptionDetails"]["exception"]["description"].as_str() {
            Some(why) => bail!("`{expression}` failed in the page: {why}"),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Evaluates an expression whose value is a list of strings.
    pub(crate) fn strings(&mut self, expression: &str) -> Result<Vec<String>> {
        Ok(serde_json::from_value(self.value(expression)?)?)
    }

    pub(crate) fn press(&mut self, key: &str, code: u32) -> Result<()> {
        self.press_with(key, code, 0)
    }

    /// Presses a key with modifiers: 2 is Ctrl.
    pub(crate) fn press_with(&mut self, key: &str, code: u32, modifiers: u32) -> Result<()> {
        for kind in ["rawKeyDown", "keyUp"] {
            let params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers});
            self.command("Input.dispatchKeyEvent", params)?;
        }
        Ok(())
    }

    /// Loads a page, and waits until its scripts have run.
    pub(crate) fn load(&mut self, page: &Path) -> Result<()> {
        self.events.clear();
        let answer = self.command("Page.navigate", json!({"url": format!("file://{}", page.display())}))?;
        if let Some(why) = answer["errorText"].as_str() {
            bail!("{} cannot be loaded: {why}", page.display());
        }
        self.event("Page.loadEventFired")?;
        self.value(SETTLED)?;
        Ok(())
    }

    /// Returns what went wrong in the page since it was loaded, requests that leave `folder` among it.
    pub(crate) fn reported_errors(&mut self, folder: &Path) -> Vec<String> {
        let inside = format!("file://{}/", folder.display());
        let mut out = Vec::new();
        for event in self.events.drain(..) {
            let about = &event["params"];
            let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => {
                    let details = &about["exceptionDetails"];
                    let what = details["exception"]["description"].as_str();
                    out.push(format!("throws: {}", what.map_or_else(|| text(&details["text"]), str::to_owned)));
                }
                "Runtime.consoleAPICalled"
                    if matches!(about["type"].as_str(), Some("error" | "assert" | "warning")) =>
                {
                    out.push(format!("says on the console: {}", text(&about["args"][0]["value"])));
                }
                "Log.entryAdded" if about["entry"]["level"] == "error" => {
                    out.push(format!("logs: {} {}", text(&about["entry"]["text"]), about["entry"]["url"]));
                }
                "Network.requestWillBeSent" => {
                    let url = text(&about["request"]["url"]);
                    let stays =
                        ["data:", "blob:", "about:", inside.as_str()].iter().any(|start| url.starts_with(start));
                    if !stays {
                        out.push(format!("asks for {url}, which is not in the book"));
                    }
                }
                // A font whose download was cancelled because the page changed is not a failure.
                "Network.loadingFailed" if about["canceled"] != true => {
                    out.push(format!("a request fails: {}", text(&about["errorText"])));
                }
                _ => {}
            }
        }
        out
    }

    /// Takes a screenshot of the whole page, as PNG.
    pub(crate) fn picture(&mut self) -> Result<Vec<u8>> {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.command("Page.captureScreenshot", params)?;
        Ok(from_base64(answer["data"].as_str().context("no picture")?))
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.session.clear();
        let _ = self.command("Browser.close", json!({}));
        let _ = self.browser.kill();
        let _ = self.browser.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push((bits >> n_bits) as u8);
        }
    }
    out
}
