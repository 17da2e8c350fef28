//! Code that the book's example programs share. The programs are in `examples/`, each with its kernels in `kernels/`.
//!
//! - One program per concept: it uses cudarc, fits on a page, and asserts what the book claims. Claims about memory are
//!   compared with the emulated device's counters.
//! - `pitfalls`: programs that report success although they are wrong, beside what our tools report ([`mod@pitfall`]).
//! - `wrong_kernels`: kernels of the steps with one mistake each.
//!
//! Their output is in the book (`book/src/generated`); a test compares.

use std::error::Error;
use std::sync::Arc;

use cudarc::driver::CudaContext;
use serde_json::Value;

pub mod pitfall;

/// `CudaContext::new(0)`: on the machine's GPU, or with no NVIDIA driver, on the emulated one. `TILE_DEVICE=emulated`
/// takes the emulated one in any case.
pub fn device() -> Result<Arc<CudaContext>, Box<dyn Error>> {
    if std::env::var("TILE_DEVICE").as_deref() == Ok("emulated") {
        emulator_client::preload()?;
    }
    Ok(CudaContext::new(0)?)
}

// ANCHOR: counted
/// Returns a counter of this thread's last launch on the emulated device, by its name in `counters::Counters`: waits
/// for it. `None` on a real GPU, which does not count unless a profiler asks it to.
///
/// # Panics
/// Panics if there was no launch, or no such counter.
pub fn counted(counter: &str) -> Option<u64> {
    let report = emulator_client::find()?.report().expect("there was a launch");
    let report: Value = serde_json::from_str(&report).expect("a report is JSON");
    let count = report["total"][counter].as_u64();
    Some(count.unwrap_or_else(|| panic!("there is no counter `{counter}`")))
}
// ANCHOR_END: counted

/// Compares a counter with what the text says, where there are counters.
///
/// # Panics
/// Panics if the counter has another value.
#[track_caller]
pub fn expect(counter: &str, value: u64) {
    if let Some(count) = counted(counter) {
        assert_eq!(count, value, "{counter}");
    }
}

/// Returns a counter for a printed line: its value, or on a real GPU, a dash.
pub fn shown(counter: &str) -> String {
    counted(counter).map_or_else(|| "-".to_owned(), |count| count.to_string())
}

/// Returns the entry of a table that the command line names.
///
/// # Errors
/// With the names that there are, when it names none of them.
pub fn chosen<T>(table: &[T], name: impl Fn(&T) -> &'static str) -> Result<&T, Box<dyn Error>> {
    let asked = std::env::args().nth(1).unwrap_or_default();
    let names: Vec<&str> = table.iter().map(&name).collect();
    let found = table.iter().find(|entry| name(entry) == asked);
    found.ok_or_else(|| format!("`{asked}` is none of {}", names.join(", ")).into())
}
