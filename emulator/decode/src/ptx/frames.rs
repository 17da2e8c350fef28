//! Frames of functions that are called and not inlined, once registers have places.

use crate::error::{Result, unsupported};
use crate::passes::{liveness::Liveness, registers::Allocation};
use crate::ptx::{Activations, index::Index};
use crate::virtual_op::{FALSE, VirtualOp};
use arithmetic::lanes::Class;
use program::limits::LOCAL_BYTES;
use program::{CallSite, Callee, Calls, Kept, OpKind};

/// A kernel before its registers are rewritten.
pub(crate) struct Lowered<'k> {
    pub(crate) ops: &'k [VirtualOp],
    pub(crate) labels: &'k [u32],
    pub(crate) live: &'k Liveness,
    pub(crate) allocation: &'k Allocation,
    pub(crate) classes: &'k [Class],
    /// Bytes of the kernel's own variables in local memory.
    pub(crate) variables: u32,
}

impl Lowered<'_> {
    /// Lists the registers with a value at `from` that is used after `to`, except pinned ones.
    fn kept(&self, pinned: &[bool], from: u32, to: u32) -> Kept {
        let (mut wide, mut narrow, mut preds) = (Vec::new(), Vec::new(), Vec::new());
        for (register, class) in self.classes.iter().enumerate() {
            if register as u32 <= FALSE || pinned[register] || !self.live.spans(register as u32, from, to) {
                continue;
            }
            let list = match class {
                Class::Pred => &mut preds,
                Class::Bits32 => &mut narrow,
                Class::Bits64 => &mut wide,
            };
            list.push(self.allocation.place[register]);
        }
        for list in [&mut wide, &mut narrow, &mut preds] {
            list.sort_unstable();
            list.dedup();
        }
        Kept { wide: wide.into(), narrow: narrow.into(), preds: preds.into() }
    }
}

/// Lays out the frames of all calls; `None` for a kernel whose calls are all inlined.
pub(crate) fn lay_out_calls(
    activations: &Activations<'_>, kernel: &Lowered<'_>, pinned: &[u32], index: &Index<'_>,
) -> Result<Option<Box<Calls>>> {
    let Some(base) = activations.base else { return Ok(None) };
    let account = index.account;
    let n = kernel.classes.len();
    let mut is_pinned = vec![false; n];
    pinned.iter().for_each(|&register| is_pinned[register as usize] = true);

    // Offset and size of the saved registers, by region.
    let variables = std::iter::once(kernel.variables).chain(activations.bodies.iter().map(|body| body.variables));
    let keep_at: Vec<u32> = variables.map(|bytes| bytes.next_multiple_of(16)).collect();
    let mut kept_bytes = vec![0u64; keep_at.len()];
    let mut kept: Vec<Kept> = vec![Kept::default(); activations.sites.len()];
    for (at, op) in kernel.ops.iter().enumerate() {
        let OpKind::Call { site, .. } = op.kind else { continue };
        account.steps(n as u64)?;
        let at = 2 * at as u32;
        let own = kernel.kept(&is_pinned, at, at + 3);
        account.bytes(own.bytes())?;
        let region = activations.sites[site as usize].region as usize;
        kept_bytes[region] = kept_bytes[region].max(own.bytes());
        kept[site as usize] = own;
    }
    let mut frames = Vec::with_capacity(keep_at.len());
    for (&start, bytes) in keep_at.iter().zip(kept_bytes) {
        // Each activation takes memory, so that local memory bounds their number.
        let frame = (u64::from(start) + bytes).max(1).next_multiple_of(u64::from(activations.align));
        if frame > u64::from(LOCAL_BYTES) {
            return Err(unsupported(
                ptx::Span::default(),
                format!("more than {LOCAL_BYTES} bytes of local memory per thread"),
            ));
        }
        frames.push(frame as u32);
    }

    let sites = activations.sites.iter().zip(kept).map(|(site, kept)| CallSite {
        callee: site.callee,
        signature: site.signature,
        frame: frames[site.region as usize],
        keep_at: keep_at[site.region as usize],
        kept,
    });
    let mut callees = Vec::with_capacity(activations.bodies.len());
    for (body, &frame) in activations.bodies.iter().zip(&frames[1..]) {
        account.steps(n as u64)?;
        let entry = kernel.labels[body.label as usize];
        let zeroed = kernel.kept(&is_pinned, 2 * entry, 2 * entry);
        account.bytes(zeroed.bytes() + 100)?;
        callees.push(Callee {
            name: body.function.name.clone(),
            address: index.address_of(body.function),
            entry,
            signature: body.signature,
            variables: body.variables,
            frame,
            zeroed,
        });
    }
    let mut others = Vec::new();
    if activations.sites.iter().any(|site| site.callee.is_none()) {
        for function in index.addressed() {
            let address = index.address_of(function);
            if !callees.iter().any(|callee| callee.address == address) {
                account.bytes(function.name.len() as u64 + 50)?;
                others.push((address, function.name.clone()));
            }
            account.steps(callees.len() as u64)?;
        }
    }
    Ok(Some(Box::new(Calls {
        base: kernel.allocation.place[base as usize],
        callees,
        others,
        sites: sites.collect(),
        frame: frames[0],
        recursive: !activations.reach.recursive.is_empty(),
    })))
}
