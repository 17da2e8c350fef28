//! Runs axe-core in the browser, which finds what keeps readers with disabilities from using a page.
//!
//! The script is not part of this repository: npm delivers one version, checked against its hash, to `target/axe`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::checks::devtools::Tab;

const VERSION: &str = "4.14.1";
/// Hash of `package/axe.min.js` in that version.
const SHA256: &str = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c";

pub(crate) struct Axe(String);

impl Axe {
    /// Loads the script from `target/axe`, or from npm; the error is the reason why neither worked.
    pub(crate) fn load() -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
        let folder = target.join("axe");
        let path = folder.join(format!("axe-{VERSION}.min.js"));
        if let Some(text) = verified(&path) {
            return Ok(Self(text));
        }
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let package = format!("axe-core@{VERSION}");
        run(Command::new("npm").args(["pack", "--silent", &package]).current_dir(&folder))?;
        let packed = format!("axe-core-{VERSION}.tgz");
        run(Command::new("tar").args(["-xzf", &packed, "package/axe.min.js"]).current_dir(&folder))?;
        let moved = std::fs::rename(folder.join("package/axe.min.js"), &path);
        moved.with_context(|| path.display().to_string())?;
        verified(&path).map(Self).with_context(|| format!("{} does not have the expected hash", path.display()))
    }

    /// Returns the serious and critical findings on the loaded page; with `only_colours`, those of contrast alone.
    pub(crate) fn findings(&self, tab: &mut Tab, only_colours: bool) -> Result<Vec<String>> {
        if tab.value("typeof window.axe")? == "undefined" {
            tab.value(&format!("{}; true", self.0))?;
        }
        // `preload` would fetch the style sheets again, which a page from `file://` may not.
        let only = if only_colours { ", runOnly: ['color-contrast']" } else { "" };
        let options = format!("{{preload: false, resultTypes: ['violations']{only}}}");
        let found = tab.strings(&format!(
            "(async () => {{
                const {{violations}} = await axe.run(document, {options});
                return violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => {{
                    const why = v.nodes[0].any.concat(v.nodes[0].all, v.nodes[0].none).map((c) => c.message)[0] || '';
                    return `${{v.id}} (${{v.impact}}) in ${{v.nodes.length}} places: ${{v.nodes[0].html.slice(0, 120)}}: ${{why}}`;
                }});
            }})()"
        ))?;
        Ok(found.into_iter().map(|what| format!("axe-core: {what}")).collect())
    }
}

/// Returns the text of the file if its hash is the expected one.
fn verified(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    (catalog::provenance::sha256(text.as_bytes()) == SHA256).then_some(text)
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.stdin(Stdio::null()).output();
    let out = out.map_err(|error| anyhow!("`{name}` cannot be started: {error}"))?;
    ensure!(out.status.success(), "`{name}` failed: {}", String::from_utf8_lossy(&out.stderr).trim());
    Ok(())
}
