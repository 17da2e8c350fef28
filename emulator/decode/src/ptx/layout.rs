//! Layout of shared arrays and kernel parameters.

use std::collections::{HashMap, HashSet};

use ptx::ast::{Function, Space, Type, Variable};

use crate::error::{Result, invalid, unsupported};
use crate::ptx::index::{Index, align_of, is_dynamic, size_of};
use crate::ptx::walk::{instructions, variables};
use program::{DeclaredArray, Param, SHARED_BASE, SHARED_GUARD};

/// Static shared memory that any device has, with opt-in.
const MAX_SHARED: u64 = 227 << 10;
const MAX_PARAMS: u32 = 32764;

#[derive(Debug)]
pub(crate) struct SharedLayout {
    pub(crate) arrays: Vec<DeclaredArray>,
    /// Bytes without guard gaps, as on a GPU.
    pub(crate) static_bytes: u32,
    pub(crate) dynamic_base: u32,
    /// Offset of each variable, by its position in the text.
    offsets: HashMap<(u32, u32), u32>,
}

impl SharedLayout {
    /// Lays out the module's arrays that the kernel mentions, then those of its functions, in text order.
    pub(crate) fn new(index: &Index, reached: &[&Function]) -> Result<SharedLayout> {
        let of_module = &index.shared;
        let mut mentioned: HashSet<&str> = HashSet::new();
        let mut inner: Vec<&Variable> = Vec::new();
        for function in reached {
            inner.extend(variables(function));
            if of_module.is_empty() {
                continue;
            }
            let mut mention = |name: &str| {
                if let Some((&name, _)) = of_module.get_key_value(name) {
                    mentioned.insert(name);
                }
            };
            for instruction in instructions(function) {
                instruction.guard.iter().for_each(|guard| mention(&guard.register));
                instruction.operands.iter().for_each(|operand| operand.for_each_name(&mut |name| mention(name)));
            }
        }
        let mut outer: Vec<&Variable> =
            mentioned.iter().filter_map(|name| of_module.get(name)).flatten().copied().collect();
        outer.sort_by_key(|v| place(v));
        inner.sort_by_key(|v| place(v));
        let all: Vec<&Variable> = outer.into_iter().chain(inner).filter(|v| v.space == Space::Shared).collect();
        for v in &all {
            index.account.bytes((v.name.len() + std::mem::size_of::<DeclaredArray>()) as u64)?;
        }

        let mut layout = SharedLayout { arrays: Vec::new(), static_bytes: 0, dynamic_base: 0, offsets: HashMap::new() };
        let mut next = u64::from(SHARED_BASE);
        let mut dense = 0u64;
        for v in all.iter().filter(|v| !is_dynamic(v)) {
            let bytes = size_of(v)?.ok_or_else(|| invalid(v.span, format!("`{}` has no size", v.name)))?;
            let align = align_of(v)?;
            next = next.next_multiple_of(u64::from(align));
            dense = dense.next_multiple_of(u64::from(align)) + bytes;
            if dense > MAX_SHARED {
                return Err(unsupported(
                    v.span,
                    format!("{dense} bytes of static shared memory (`{}` and those before it)", v.name),
                ));
            }
            layout.add(v, next as u32, bytes as u32, align);
            next += bytes + u64::from(SHARED_GUARD);
        }
        let mut dynamic_align = 16;
        for v in all.iter().filter(|v| is_dynamic(v)) {
            dynamic_align = dynamic_align.max(align_of(v)?);
            dense = dense.next_multiple_of(dynamic_align.into());
        }
        layout.static_bytes = dense as u32;
        layout.dynamic_base = next.next_multiple_of(u64::from(dynamic_align)) as u32;
        for v in all.iter().filter(|v| is_dynamic(v)) {
            layout.add(v, layout.dynamic_base, 0, align_of(v)?);
        }
        Ok(layout)
    }

    fn add(&mut self, v: &Variable, offset: u32, bytes: u32, align: u32) {
        self.offsets.insert(place(v), offset);
        self.arrays.push(declared_array(v, offset, bytes, align));
    }

    pub(crate) fn offset(&self, v: &Variable) -> Option<u32> {
        self.offsets.get(&place(v)).copied()
    }
}

pub(super) fn declared_array(v: &Variable, offset: u32, bytes: u32, align: u32) -> DeclaredArray {
    let dims = v.dims.iter().map(|d| d.unwrap_or(0)).collect();
    DeclaredArray { name: v.name.clone(), offset, bytes, align, element: v.ty.bytes() * v.vector, dims }
}

/// Returns the position in the text. Variables of one declaration start at the same position and end at different ones.
fn place(v: &Variable) -> (u32, u32) {
    (v.span.start, v.span.end)
}

/// Parameters of a kernel, and the size of their block.
pub(crate) fn params(kernel: &Function) -> Result<(Vec<Param>, u32)> {
    let mut next = 0u64;
    let mut params = Vec::with_capacity(kernel.params.len());
    for v in &kernel.params {
        refuse_if!(v.space != Space::Param, invalid(v.span, format!("`{}` is not a `.param`", v.name)));
        let bytes = size_of(v)?.ok_or_else(|| invalid(v.span, format!("`{}` has no size", v.name)))?;
        let offset = next.next_multiple_of(u64::from(align_of(v)?));
        next = offset + bytes;
        if next > u64::from(MAX_PARAMS) {
            return Err(invalid(v.span, format!("the parameters take more than {MAX_PARAMS} bytes")));
        }
        params.push(Param {
            name: v.name.clone(),
            offset: offset as u32,
            bytes: bytes as u32,
            maybe_pointer: bytes == 8 && v.ty.bytes() == 8 && v.ty != Type::F64,
        });
    }
    Ok((params, next as u32))
}
