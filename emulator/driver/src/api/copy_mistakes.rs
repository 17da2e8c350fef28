//! Sentences for copies with an unusable end, whose error code explains little.

use crate::api::copy_ends::{CopyEnd, device_range};
use crate::host_mistakes::{describe, explain};
use crate::{contexts::MEMORY, ffi::can_read};

/// Explains a copy of which an end is unusable; `what` is "a copy" or "a copy of rows".
pub(super) fn explain_copy(to: &CopyEnd, from: &CopyEnd, n: usize, what: &str) {
    let head = format!("{what} of {n} bytes");
    let sentence = exchanged(&head, ("to", to), ("from", from), n)
        .or_else(|| exchanged(&head, ("from", from), ("to", to), n))
        .or_else(|| unusable(&format!("{head} to"), to, n))
        .or_else(|| unusable(&format!("{head} from"), from, n));
    if let Some(sentence) = sentence {
        explain(&sentence);
    }
}

/// Returns the sentence for a copy whose ends are exchanged: host memory passed as a device address, and the reverse.
fn exchanged(
    head: &str, (direction, end): (&str, &CopyEnd), (opposite, other): (&str, &CopyEnd), n: usize,
) -> Option<String> {
    let CopyEnd::Device(address) = *end else { return None };
    let (CopyEnd::Device(far) | CopyEnd::Host(far)) = *other else { return None };
    let fits = is_device_range(far, n) && MEMORY.lookup(address).is_none() && can_read(address, n);
    fits.then(|| {
        format!(
            "{head} {direction} the device address {address:#x}, which is host memory, {opposite} {far:#x}, \
             which is device memory: are source and destination exchanged?"
        )
    })
}

/// Returns the sentence for `n` unusable bytes at an end of a copy; it begins with `head`.
fn unusable(head: &str, place: &CopyEnd, n: usize) -> Option<String> {
    match place {
        CopyEnd::Device(address) if is_device_range(*address, n) => None,
        CopyEnd::Device(address) => Some(match MEMORY.lookup(*address) {
            Some(a) if a.freed => format!("{head} device memory that was freed ({})", describe(&a)),
            Some(a) if *address >= a.base && *address - a.base <= a.bytes => {
                let offset = address - a.base;
                let past = offset.saturating_add(n as u64) - a.bytes;
                let at = match offset {
                    0 => String::new(),
                    _ => format!(", {offset} bytes after its start,"),
                };
                format!("{head} device memory{at} would run {past} bytes past the end of it ({})", describe(&a))
            }
            _ => format!("{head} {address:#x}, which is not device memory"),
        }),
        CopyEnd::Host(0) => Some(format!("{head} host memory, and the host pointer is null")),
        CopyEnd::Host(address) if !can_read(*address, n) => {
            Some(format!("{head} the host address {address:#x}: not all of it is memory of this program"))
        }
        CopyEnd::Host(_) | CopyEnd::Array(..) => None,
    }
}

fn is_device_range(address: u64, n: usize) -> bool {
    device_range(address, n).is_ok()
}
