//! From an address to the array that was meant, and the element that was hit.

use std::collections::BTreeSet;

use crate::finding::{ArrayElement, Space};
use crate::source::text::{function_of, plain_name, size_of, words};
use crate::source::{Declared, Use};
use crate::words::{count, nth};
use crate::{launch_context::LaunchContext, launch_inputs::Allocation};
use program::{MemSpace, OpKind, RANK_SHIFT, SHARED_BASE, SourceLoc};
use simt::check::{AccessKind, BadAccess};

/// An array, with what the text says about it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) element: ArrayElement,
    /// Start of the array: an address, or an offset in its space.
    pub(crate) start: u64,
    /// Whether the name is one that the programmer wrote.
    pub(crate) named: bool,
    pub(crate) allocation: Option<Allocation>,
    pub(crate) parameter: Option<usize>,
    pub(crate) dynamic: bool,
    pub(crate) access_bytes: u32,
}

impl Target {
    /// Returns the array's name as code (`` `A` ``), or a description in words.
    pub(crate) fn title(&self) -> String {
        if self.named { format!("`{}`", self.element.name) } else { self.element.name.clone() }
    }

    /// Returns the element as C writes it: `A[10000]`, `a_tile[15][3]`, `flag`.
    pub(crate) fn indexed(&self) -> String {
        self.element_at(self.element.index)
    }

    /// Returns another element of the same array as C writes it.
    pub(crate) fn element_at(&self, index: i64) -> String {
        let name = &self.element.name;
        // A variable of its own, not what a pointer points to.
        let scalar = self.element.n_elements == 1 && index == 0 && self.element.dims.is_empty();
        if scalar && self.named && self.parameter.is_none() {
            return name.clone();
        }
        if !self.named {
            return format!("element {index} of {name}");
        }
        format!("{name}{}", self.subscripts(index))
    }

    fn subscripts(&self, index: i64) -> String {
        let dims = &self.element.dims;
        if dims.len() < 2 || index < 0 {
            return format!("[{index}]");
        }
        let mut rest = index as u64;
        let mut parts = Vec::new();
        for (place, &dim) in dims.iter().enumerate().rev() {
            let part = if place == 0 { rest } else { rest % dim.max(1) };
            rest /= dim.max(1);
            parts.push(format!("[{part}]"));
        }
        parts.reverse();
        parts.concat()
    }

    /// Returns the array's size in words: `10000 floats`, `16x16 floats`, `4 elements of 3 bytes`.
    pub(crate) fn size(&self) -> String {
        let dims = &self.element.dims;
        if dims.len() > 1 {
            let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
            return format!("{} {}", dims.join("x"), self.elements(2));
        }
        let n = self.element.n_elements;
        format!("{n} {}", self.elements(n))
    }

    /// Returns the elements' type in words, for a number of them: `floats`, or `elements of 8 bytes`.
    pub(crate) fn elements(&self, n: u64) -> String {
        let ty = self.element.element_type.as_str();
        if ty.is_empty() {
            let elements = if n == 1 { "element" } else { "elements" };
            return format!("{elements} of {}", count(u64::from(self.element.element_bytes), "byte"));
        }
        if n == 1 {
            return ty.to_owned();
        }
        if ty.contains(' ') { format!("{ty} elements") } else { format!("{ty}s") }
    }
}

/// Name of several local arrays, which the compiler joins into one.
pub(crate) const LOCAL_ARRAYS: &str = "the local memory of a thread";

impl LaunchContext<'_> {
    /// Returns the array that an access of `instr` meant, `None` if the address belongs to nothing.
    pub(crate) fn target(
        &self, instr: u32, space: MemSpace, address: u64, bytes: u32, kind: AccessKind,
    ) -> Option<Target> {
        match space {
            MemSpace::Shared => self.shared(instr, address & ((1 << RANK_SHIFT) - 1), bytes),
            MemSpace::Local => self.local(instr, address, bytes),
            MemSpace::Param => self.param(address, bytes),
            MemSpace::Global | MemSpace::Generic | MemSpace::Const => self.global(instr, address, bytes, kind),
        }
    }

    /// Returns the array that an access meant, as [`Self::target`] finds it.
    pub(crate) fn reached(&self, instr: u32, access: &BadAccess) -> Option<Target> {
        self.target(instr, access.space, access.address, access.bytes, access.kind)
    }

    /// Returns the name of the data at an address in shared memory, such as `` `tile[3]` ``; the address where it has
    /// none.
    pub(crate) fn name_in_shared(&self, instr: u32, address: u64, bytes: u32, kind: AccessKind) -> String {
        let target = self.target(instr, MemSpace::Shared, address, bytes, kind);
        match target.filter(|target| target.named) {
            Some(target) => format!("`{}`", target.indexed()),
            None => format!("address {address:#x} of shared memory"),
        }
    }

    /// Returns the layout of an instruction's access: bytes of one element, and a type name when it follows from PTX.
    fn element_of(&self, instr: u32, bytes: u32) -> (u32, &'static str) {
        let size = match self.ops(instr).next() {
            Some(OpKind::Load(access) | OpKind::Store(access)) => u32::from(access.element),
            Some(OpKind::Atomic(atomic)) => atomic.ty.bytes(),
            _ => bytes,
        };
        let name = match self.mnemonic(instr).rsplit('.').next() {
            Some("f32") => "float",
            Some("f64") => "double",
            _ => "",
        };
        (size.max(1), name)
    }

    #[allow(clippy::too_many_arguments, reason = "the facts of one array, put together in one place")]
    fn array_target(
        &self, instr: u32, name: String, named: bool, space: Space, (start, bytes): (u64, u64), address: u64,
        access_bytes: u32, declared: Option<Declared>,
    ) -> Target {
        let (element, ptx_type) = self.element_of(instr, access_bytes);
        let declared = declared.unwrap_or(Declared { ty: String::new(), dims: Vec::new() });
        let size = size_of(&declared.ty).filter(|_| !declared.ty.is_empty());
        let (element_type, element_bytes) = match size {
            Some(size) => (declared.ty.clone(), size),
            None => (ptx_type.to_owned(), element),
        };
        let n_elements = bytes / u64::from(element_bytes);
        let byte_offset = address.wrapping_sub(start) as i64;
        Target {
            element: ArrayElement {
                name,
                space,
                element_type,
                element_bytes,
                n_elements,
                dims: dims(&declared.dims, n_elements),
                index: byte_offset.div_euclid(i64::from(element_bytes)),
                byte_offset,
            },
            start,
            named,
            allocation: None,
            parameter: None,
            dynamic: false,
            access_bytes,
        }
    }

    fn declared(&self, instr: u32, qualifiers: &[&str], symbol: &str) -> Option<Declared> {
        let function = function_of(symbol).or(Some(self.plain_kernel_name()));
        // The array may be that of a caller in another file.
        self.frames(instr).iter().find_map(|loc| {
            let source = self.source_of_file(loc.file)?;
            let mut qualifiers = qualifiers.iter();
            qualifiers.find_map(|qualifier| source.array(qualifier, plain_name(symbol), function))
        })
    }

    fn shared(&self, instr: u32, address: u64, access_bytes: u32) -> Option<Target> {
        if address < u64::from(SHARED_BASE) / 2 {
            return None;
        }
        let kernel = self.inputs.kernel;
        let dynamic_end = u64::from(kernel.shared_dynamic_base) + u64::from(self.inputs.request.dynamic_shared);
        let arrays = kernel.shared.iter().map(|array| {
            let (start, dynamic) = (u64::from(array.offset), array.bytes == 0);
            let bytes = if dynamic { dynamic_end.saturating_sub(start) } else { u64::from(array.bytes) };
            (start, bytes, array.name.as_str(), dynamic)
        });
        // Several `extern` arrays lie on top of each other: the one that the line names is meant. A bulk copy reaches
        // from where it starts to the end of its box, and its line names a barrier too.
        let is_bulk = self.mnemonic(instr).starts_with("cp.async.bulk");
        let on_line = |symbol: &str| !self.line_uses(instr, plain_name(symbol)).is_empty();
        let distance = |start: u64, bytes: u64| {
            if address < start { start - address } else { (address + 1).saturating_sub(start + bytes) }
        };
        let (start, bytes, symbol, dynamic) = arrays
            .min_by_key(|&(start, bytes, symbol, _)| {
                let far = distance(start, bytes);
                // The guard gap past an array's end belongs to that array, unless the line names another one.
                (far > 0 && (is_bulk || !on_line(symbol)), far, !on_line(symbol), start > address)
            })
            .or((kernel.shared_dynamic_base > 0).then(|| {
                let base = u64::from(kernel.shared_dynamic_base);
                (base, dynamic_end.saturating_sub(base), "dynamic shared memory", true)
            }))?;
        let declared = self.declared(instr, &["__shared__"], symbol);
        let name = plain_name(symbol);
        let named = name != "dynamic shared memory";
        let place = (start, bytes);
        let target =
            self.array_target(instr, name.to_owned(), named, Space::Shared, place, address, access_bytes, declared);
        Some(Target { dynamic, ..target })
    }

    fn local(&self, instr: u32, address: u64, access_bytes: u32) -> Option<Target> {
        let kernel = self.inputs.kernel;
        let depot = kernel.local.iter().min_by_key(|array| {
            let (start, at) = (i64::from(array.offset), address as i64);
            (start - at).max(at.saturating_add(1) - start - i64::from(array.bytes)).max(0)
        });
        let (start, bytes) =
            depot.map_or((0, u64::from(kernel.local_bytes)), |array| (u64::from(array.offset), u64::from(array.bytes)));
        // The compiler joins all local arrays into one: the source says which, if it has one only.
        let arrays = self.source_of(instr).map(|source| source.arrays("")).unwrap_or_default();
        let accessed = self.element_of(instr, access_bytes).0;
        let is_parameter =
            |ty: &str| self.source_of(instr).is_some_and(|source| source.contains(&format!("typename {ty}")));
        let fits = |declared: &Declared| {
            let n: Option<u64> = declared.dims.iter().copied().product();
            let size = size_of(&declared.ty).or_else(|| is_parameter(&declared.ty).then_some(accessed)).map(u64::from);
            !declared.dims.is_empty() && n.zip(size).is_some_and(|(n, size)| n * size == bytes)
        };
        let on_line = |name: &str| !self.line_uses(instr, name).is_empty();
        let found = arrays.iter().filter(|(_, declared)| fits(declared)).max_by_key(|(name, _)| on_line(name)).cloned();
        let place = (start, bytes);
        let named = found.is_some();
        let unnamed = if arrays.len() > 1 { LOCAL_ARRAYS } else { "a local array" };
        let (name, declared) = found.map_or((unnamed.to_owned(), None), |(name, array)| (name, Some(array)));
        Some(self.array_target(instr, name, named, Space::Local, place, address, access_bytes, declared))
    }

    fn param(&self, address: u64, access_bytes: u32) -> Option<Target> {
        let kernel = self.inputs.kernel;
        let index = kernel.params.iter().rposition(|param| u64::from(param.offset) <= address)?;
        let param = kernel.params.get(index)?;
        let (name, _) = self.parameter(index);
        let place = (u64::from(param.offset), u64::from(param.bytes));
        Some(self.array_target(u32::MAX, name, true, Space::Param, place, address, access_bytes, None))
    }

    fn global(&self, instr: u32, address: u64, access_bytes: u32, kind: AccessKind) -> Option<Target> {
        let allocation = (self.inputs.find)(address)?;
        let mut place = (allocation.base, allocation.bytes);
        let mut parameter = None;
        let (name, named, space, declared) = if let Some(symbol) = &allocation.symbol {
            let declared = self.declared(instr, &["__constant__", "__device__"], symbol);
            let space = if allocation.read_only { Space::Constant } else { Space::Global };
            (plain_name(symbol).to_owned(), true, space, declared)
        } else if let Some((index, value)) = self.parameter_for(instr, address, allocation.base, kind) {
            let (name, ty) = self.parameter(index);
            let ty = ty.map(|ty| ty.trim_end_matches(['*', ' ', '&']).to_owned()).unwrap_or_default();
            parameter = Some(index);
            place = (value, (allocation.base + allocation.bytes).saturating_sub(value));
            let named = !name.starts_with("parameter ");
            (name, named, Space::Global, Some(Declared { ty, dims: Vec::new() }))
        } else {
            let name = match allocation.number {
                0 => "a buffer".to_owned(),
                id => format!("the {} allocation", nth(id)),
            };
            (name, false, Space::Global, None)
        };
        let target = self.array_target(instr, name, named, space, place, address, access_bytes, declared);
        Some(Target { allocation: Some(allocation), parameter, ..target })
    }

    /// Returns the parameter that points into the allocation at `base`, with its value: of several, the one that the
    /// line uses so, then the nearest below.
    fn parameter_for(&self, instr: u32, address: u64, base: u64, kind: AccessKind) -> Option<(usize, u64)> {
        let params = &self.inputs.kernel.params;
        let pointers = (0..params.len()).filter(|&index| params[index].maybe_pointer);
        let values = pointers.filter_map(|index| Some((index, self.parameter_value(index)?)));
        let candidates = values.filter(|&(_, value)| (self.inputs.find)(value).is_some_and(|found| found.base == base));
        candidates.min_by_key(|&(index, value)| {
            let uses = self.line_uses(instr, &self.parameter(index).0);
            let fits = uses.iter().any(|found| found.is_for(kind));
            (!fits, uses.is_empty(), value > address, address.abs_diff(value))
        })
    }

    pub(crate) fn line_uses(&self, instr: u32, name: &str) -> Vec<Use> {
        let line = self.loc(instr).map_or(0, |loc| loc.line);
        self.source_of(instr).map(|source| source.uses(line, name)).unwrap_or_default()
    }

    /// Uses of an array in the line of an instruction, to underline.
    pub(crate) fn uses(&self, instr: u32, name: &str, kind: AccessKind) -> Vec<Use> {
        self.loc(instr).map(|loc| self.uses_at(loc, name, kind)).unwrap_or_default()
    }

    /// Uses of an array in a line: those of a kind, or where there are none, all.
    pub(crate) fn uses_at(&self, loc: SourceLoc, name: &str, kind: AccessKind) -> Vec<Use> {
        let mut uses = self.source_of_file(loc.file).map(|source| source.uses(loc.line, name)).unwrap_or_default();
        if uses.is_empty() {
            uses = self.uses_by_pointers(loc, name).unwrap_or_default();
        }
        let fitting: Vec<Use> = uses.iter().filter(|found| found.is_for(kind)).cloned().collect();
        if fitting.is_empty() { uses } else { fitting }
    }

    /// Returns the uses of an array by pointers into it, with subscripts that count from its start: for `row[x]` after
    /// `row = image + y * pitch`, `y * pitch + x`.
    fn uses_by_pointers(&self, loc: SourceLoc, name: &str) -> Option<Vec<Use>> {
        let source = self.source_of_file(loc.file)?;
        let into_array = |pointer: &str| {
            let definition = source.definition_for(&self.inputs.kernel.name, pointer, Some(loc.line))?;
            let offset = definition.strip_prefix(name)?.trim_start().strip_prefix('+')?.trim();
            // What binds more loosely than a sum does would take the other part along.
            let is_sum = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_ +-*/%.()".contains(c));
            let uses = source.uses(loc.line, pointer).into_iter();
            let fits = move |used: &Use| matches!(&used.subscripts[..], [place] if is_sum(offset) && is_sum(place));
            let of_array = move |used: &Use| format!("{offset} + {}", used.subscripts[0]);
            Some(uses.filter(fits).map(move |used| Use { subscripts: vec![of_array(&used)], ..used }))
        };
        let pointers: BTreeSet<&str> = words(source.clean_line(loc.line)?).map(|(_, word)| word).collect();
        Some(pointers.into_iter().filter_map(into_array).flatten().collect())
    }
}

impl Use {
    fn is_for(&self, kind: AccessKind) -> bool {
        if kind == AccessKind::Write { self.stored } else { self.loaded }
    }
}

/// Dimensions that fit the size; one unknown dimension follows from the others.
fn dims(dims: &[Option<u64>], n_elements: u64) -> Vec<u64> {
    let known: u64 = dims.iter().flatten().copied().fold(1, u64::saturating_mul);
    let unknown = dims.iter().filter(|dim| dim.is_none()).count();
    let all: Option<Vec<u64>> = match unknown {
        0 => dims.iter().copied().collect(),
        1 if known > 0 && n_elements.is_multiple_of(known) => {
            Some(dims.iter().map(|dim| dim.unwrap_or(n_elements / known)).collect())
        }
        _ => None,
    };
    all.filter(|all| all.iter().copied().fold(1, u64::saturating_mul) == n_elements).unwrap_or_default()
}
