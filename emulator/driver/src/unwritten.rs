//! Copies to the host of memory that was never written, or in part, where the grid of a launch shows why.
//!
//! Programs also copy capacity, padding and borders that no kernel should write. So a copy is reported only if a launch
//! got the number of all elements among its arguments, as much was written as its grid is wide, and no argument is that
//! length.

use std::collections::BTreeMap;
use std::sync::Mutex;

use diagnostics::{HostWarning, plain_name};
use program::DecodedKernel;
use simt::launch::LaunchRequest;

use crate::{allocations::FIRST_DEVICE_ADDRESS, contexts::MEMORY, diagnose, sync::lock};

/// A launch that got a pointer to an allocation.
#[derive(Clone, PartialEq)]
struct Use {
    kernel: String,
    pointer: u64,
    grid: [u32; 3],
    block: [u32; 3],
    /// Arguments that can be lengths.
    lengths: Vec<u64>,
}

/// Different launches that got pointers to an allocation, by its serial number.
static USES: Mutex<BTreeMap<u64, Vec<Use>>> = Mutex::new(BTreeMap::new());
/// Limit on allocations that are followed: the last ones.
const MAX_ALLOCATIONS: usize = 1 << 12;
/// Limit on launches that are kept for an allocation; one with more is not reported.
const MAX_USES: usize = 8;
/// Limit on written ranges of a copy; one with more is not reported.
const MAX_RANGES: usize = 1 << 14;

/// Notes a launch that has run for the allocations to which it got pointers.
pub(crate) fn note_launch(kernel: &DecodedKernel, request: &LaunchRequest) {
    let (mut pointers, mut lengths) = (Vec::new(), Vec::new());
    for param in &kernel.params {
        let bytes = request.params.iter().skip(param.offset as usize).take(param.bytes as usize);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        for word in bytes.copied().collect::<Vec<u8>>().chunks(8).map(number) {
            if word >= FIRST_DEVICE_ADDRESS { pointers.push(word) } else { lengths.push(word) }
        }
    }
    let name = plain_name(&kernel.name);
    for pointer in pointers {
        let Some(allocation) = MEMORY.lookup(pointer) else { continue };
        let (kernel, lengths) = (name.to_owned(), lengths.clone());
        let one = Use { kernel, pointer, grid: request.grid, block: request.block, lengths };
        let mut table = lock(&USES);
        let uses = table.entry(allocation.id).or_default();
        if uses.len() <= MAX_USES && !uses.contains(&one) {
            uses.push(one);
        }
        if table.len() > MAX_ALLOCATIONS {
            table.pop_first();
        }
    }
}

/// Reports ranges that a call copied to the host, if a part of them was never written and a grid shows why.
pub(crate) fn copied_back(ranges: impl Iterator<Item = (u64, usize)>) {
    let (mut start, mut written, mut total) = (None, Vec::<(u64, u64)>::new(), 0);
    for (address, n) in ranges {
        start.get_or_insert(address);
        let room = MAX_RANGES - written.len();
        let Some(more) = MEMORY.written(address, n as u64, room) else { return };
        for (from, to) in more {
            match written.last_mut() {
                Some(last) if last.1 == total + from => last.1 = total + to,
                _ => written.push((total + from, total + to)),
            }
        }
        total += n as u64;
        if written.len() >= MAX_RANGES {
            return;
        }
    }
    let Some((start, allocation)) = start.and_then(|start| Some((start, MEMORY.lookup(start)?))) else { return };
    if written.is_empty() && total > 0 {
        diagnose::print_once(&format!(
            "{total} bytes are copied back from device memory that was never written ({} bytes from {}): did the kernel \
             write to another buffer, or not run?",
            allocation.bytes, allocation.origin.label
        ));
    }
    if written.is_empty() || written == [(0, total)] || MEMORY.host_wrote(start) {
        return;
    }
    let table = lock(&USES);
    let Some(uses) = table.get(&allocation.id).filter(|uses| uses.len() <= MAX_USES) else { return };
    if uses.iter().all(|one| one.pointer == start) {
        Copied { written: &written, total, uses }.warning().iter().for_each(diagnose::warning);
    }
}

/// A copy of which a part was never written.
struct Copied<'a> {
    /// Written bytes, from the start of the copy.
    written: &'a [(u64, u64)],
    total: u64,
    uses: &'a [Use],
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Use {
    /// Returns the axes of the grid and of its blocks along which there are so many threads.
    fn axes(&self, n: u64) -> Option<[usize; 2]> {
        let pairs = (0..3).flat_map(|grid| (0..3).map(move |more| [grid, (grid + more) % 3]));
        pairs.filter(|_| n > 1).find(|[x, y]| u64::from(self.grid[*x]) * u64::from(self.block[*y]) == n)
    }

    /// Returns why only `written` of `n` rows or columns were written, where blocks of one square tile each reach all
    /// of them, and the `others` too, once x and y of the grid are exchanged.
    fn exchanged(&self, [written, n, others]: [u64; 3], what: &str) -> Option<(String, String)> {
        let [x, y, _] = self.grid;
        let exchange = format!("exchange x and y of the grid: {y}x{x} blocks.");
        [1, 0].into_iter().find_map(|axis| {
            let [mine, theirs] = [axis, 1 - axis].map(|axis| u64::from(self.grid[axis]));
            let tile = written.checked_div(mine).filter(|tile| *tile > 0 && tile * mine == written)?;
            let [own, other] = [AXES[axis], AXES[1 - axis]];
            let why = format!(
                "a block has {tile} of the {n} {what}: gridDim.{own} = {mine} blocks reach {written}, and \
                 gridDim.{other} = {theirs} would reach all."
            );
            let is_exchanged = n.div_ceil(tile) == theirs && others.div_ceil(tile) == mine;
            is_exchanged.then(|| (why, exchange.clone()))
        })
    }

    /// Returns why only so many of `n` rows, columns or elements were written, and what helps.
    fn reason(&self, [x, y]: [usize; 2], n: u64, what: &str) -> (String, String) {
        let (blocks, threads) = (u64::from(self.grid[x]), u64::from(self.block[y]));
        let (axis, enough, other) = (AXES[x], n.div_ceil(threads), usize::from(x == 0));
        let why = format!(
            "gridDim.{axis} * blockDim.{} = {blocks} * {threads} = {}, and there are {n} {what}.",
            AXES[y],
            blocks * threads
        );
        let advice = if x < 2 && u64::from(self.grid[other]) == enough {
            format!("exchange x and y of the grid: gridDim.{} = {enough} blocks have {n} {what}.", AXES[other])
        } else if n / threads == blocks {
            format!("round up: ({n} + {}) / {threads} = {enough} blocks in {axis}.", threads - 1)
        } else {
            format!("launch {enough} blocks in {axis}, if each thread has one of the {what}.")
        };
        (why, advice)
    }
}

impl Copied<'_> {
    /// Returns whether a launch got a number among its arguments, or two or three whose product it is.
    fn is_told(&self, n: u64) -> bool {
        let rest = |n: u64, a: &u64| n.checked_div(*a).filter(|rest| rest * a == n);
        self.uses.iter().any(|Use { lengths, .. }| {
            let pair = |n: u64| lengths.iter().filter_map(|a| rest(n, a)).any(|rest| lengths.contains(&rest));
            lengths.contains(&n) || pair(n) || lengths.iter().filter_map(|a| rest(n, a)).any(pair)
        })
    }

    fn warning(&self) -> Option<HostWarning<'static>> {
        [4, 8, 2, 16, 1].into_iter().find_map(|element| {
            let whole = |n: u64| n.is_multiple_of(element);
            if !whole(self.total) || !self.written.iter().all(|(from, to)| whole(*from) && whole(*to)) {
                return None;
            }
            let n = self.total / element;
            let shapes = self.uses.iter().flat_map(|launch| {
                // All in one row, or in rows of a length that the launch got.
                std::iter::once(n).chain(launch.lengths.iter().copied()).map(move |length| (launch, length))
            });
            shapes.filter(|(_, length)| *length > 1).find_map(|(launch, length)| self.rows(launch, length, element))
        })
    }

    /// Returns the warning if the first of some rows were written, or the first elements of all.
    fn rows(&self, launch: &Use, length: u64, element: u64) -> Option<HostWarning<'static>> {
        let (n, bytes) = (self.total / element, length * element);
        let count = Some(n / length).filter(|count| count * length == n && self.is_told(n))?;
        let (rows, columns) = match *self.written {
            [(0, end)] if end.is_multiple_of(bytes) => (end / bytes, length),
            [(_, width), ..] => {
                let is_row = |(i, row): (u64, &(u64, u64))| *row == (i * bytes, i * bytes + width);
                (0..).zip(self.written).all(is_row).then_some((self.written.len() as u64, width / element))?
            }
            [] => return None,
        };
        let (names, shape) = match count {
            1 => (["rows", "elements"], format!("each of {element} bytes")),
            _ => (["rows", "columns"], format!("if a row has {length} elements of {element} bytes")),
        };
        let short = [([rows, count, length], names[0]), ([columns, length, count], names[1])];
        let short = short.into_iter().filter(|([written, of, _], _)| written < of);
        let mut reason = None;
        let mut places = Vec::new();
        for (numbers @ [written, of, _], what) in short {
            let by_threads = || launch.axes(written).filter(|_| !self.is_told(written));
            let found = launch.exchanged(numbers, what);
            let found = found.or_else(|| by_threads().map(|axes| launch.reason(axes, of, what)))?;
            reason.get_or_insert(found);
            places.push(format!("{what} 0 to {} of {of}", written - 1));
        }
        let (why, advice) = reason?;
        let size = |[x, y, z]: [u32; 3]| if z == 1 { format!("{x}x{y}") } else { format!("{x}x{y}x{z}") };
        let missing = self.total - rows * columns * element;
        Some(HostWarning {
            code: "W-UNWRITTEN",
            title: format!("{missing} of {} bytes that are copied to the host were never written", self.total),
            note: format!(
                "Written are {}, {shape}; `{}` ran in a grid of {} blocks of {} threads.",
                places.join(", in them "),
                launch.kernel,
                size(launch.grid),
                size(launch.block)
            ),
            why,
            advice,
            on_gpu: "these bytes are what the memory held before, which differs from run to run.",
        })
    }
}
