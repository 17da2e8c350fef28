//! A launch that the reader chooses: its limits, the parameters that it gives to a kernel, and what is shown of it.

use judge::Request;
use judge::emulated_module::{LaunchSetup, Parameter};
use judge::own_launch::{self, Outcome, plain_name};
use ptx::ast::{Function, FunctionKind, Item};
use reference::inputs::{Data, elements};
use serde::{Deserialize, Serialize};
use tasks::Task;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    /// Buffers for the kernel's pointers, in order.
    buffers: Vec<Buffer>,
    /// Values of its other parameters, in order.
    numbers: Vec<f64>,
    /// Number of the buffer to show, from 0.
    shown: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Buffer {
    element: Element,
    length: usize,
    holds: Contents,
    /// Value of the elements of a constant buffer.
    #[serde(default)]
    value: f64,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Element {
    Float,
    Int,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Contents {
    Zeros,
    Index,
    Random,
    Constant,
}

#[derive(Serialize)]
pub(crate) struct Launched {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    #[serde(flatten)]
    outcome: Outcome,
    /// Elements of the shown buffer; none where the launch did not start.
    shown: Vec<String>,
}

const MAX_BUFFERS: usize = 4;
/// Elements of a buffer: those of the largest product.
const MAX_LENGTH: usize = 256 * 256;
const MAX_THREADS: u64 = 1 << 18;

impl Launch {
    /// Returns the reason why a launch is too large for a page.
    fn excess(&self) -> Option<String> {
        let threads = self.grid.iter().chain(&self.block).fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
        let length = self.buffers.iter().map(|buffer| buffer.length).find(|length| !(1..=MAX_LENGTH).contains(length));
        if !(1..=MAX_THREADS).contains(&threads) {
            Some(format!(
                "a launch of {threads} threads is not between 1 and {MAX_THREADS}; choose another grid or block"
            ))
        } else if self.buffers.len() > MAX_BUFFERS {
            Some(format!("the launch has {} buffers, and a page gives {MAX_BUFFERS} at most", self.buffers.len()))
        } else if let Some(length) = length {
            Some(format!("a buffer of {length} elements is not between 1 and {MAX_LENGTH} long"))
        } else if self.shown >= self.buffers.len() {
            Some(format!("there is no buffer {} to show; the launch has {}", self.shown + 1, self.buffers.len()))
        } else {
            None
        }
    }

    /// Returns what the parameters of a kernel get, or the reason why they do not fit.
    fn parameters(&self, entry: &Function) -> Result<Vec<Parameter>, String> {
        let (mut buffers, mut numbers) = (self.buffers.iter().zip(0..), self.numbers.iter());
        let parameters = entry.params.iter().map(|param| {
            Some(match (param.dims.is_empty(), param.ty.name()) {
                (true, "u64") => buffers.next().map(|(buffer, number)| Parameter::Buffer(buffer.bytes(number)))?,
                (true, "u32") => Parameter::Number((*numbers.next()? as i32).to_le_bytes().to_vec()),
                (true, "f32") => Parameter::Number((*numbers.next()? as f32).to_le_bytes().to_vec()),
                _ => return None,
            })
        });
        let parameters: Option<Vec<Parameter>> = parameters.collect();
        let is_complete = buffers.next().is_none() && numbers.next().is_none();
        parameters.filter(|_| is_complete).ok_or_else(|| {
            let kinds = entry.params.iter().map(|param| match (param.dims.is_empty(), param.ty.name()) {
                (true, "u64") => "a pointer",
                (true, "u32") => "an int",
                (true, "f32") => "a float",
                _ => "a parameter that a page cannot give",
            });
            let kinds: Vec<&str> = kinds.collect();
            format!(
                "{} takes ({}), and the launch has {} buffers and {} numbers; give a buffer for each pointer and a number \
                 for each int or float, in order",
                plain_name(&entry.name),
                kinds.join(", "),
                self.buffers.len(),
                self.numbers.len()
            )
        })
    }

    /// Launches a kernel of the module: that of the task, or the first.
    pub(crate) fn run(&self, module: &ptx::Module, request: &Request<'_>) -> Result<Launched, String> {
        self.excess().map_or(Ok(()), Err)?;
        let entries: Vec<&Function> = module.items.iter().filter_map(entry).collect();
        let is_named = |function: &&&Function| plain_name(&function.name) == request.task.entry;
        let entry = entries.iter().find(is_named).or(entries.first()).ok_or("the source has no kernel (__global__)")?;
        let task = Task { entry: entry.name.clone(), dynamic_shared: self.dynamic_shared, ..request.task.clone() };
        let setup = LaunchSetup {
            grid: self.grid,
            block: self.block,
            arguments: (1..=entry.params.len()).map(|number| format!("parameter {number}")).collect(),
        };
        let parameters = self.parameters(entry)?;
        let outcome = own_launch::launch(&Request { task: &task, ..request.clone() }, &setup, parameters);
        let outcome = outcome.map_err(|error| error.to_string())?;
        let buffer = &self.buffers[self.shown];
        let shown = outcome.buffers.get(self.shown).map_or(Vec::new(), |bytes| buffer.element.texts(bytes));
        Ok(Launched { kernel: plain_name(&task.entry).to_owned(), grid: self.grid, block: self.block, outcome, shown })
    }
}

fn entry(item: &Item) -> Option<&Function> {
    match item {
        Item::Function(function) if function.kind == FunctionKind::Entry => Some(function),
        _ => None,
    }
}

impl Buffer {
    /// Returns the content before the launch; random elements depend on the number of the buffer.
    fn bytes(&self, number: u64) -> Vec<u8> {
        let random = |is_real: bool| {
            let data = if is_real { Data::Reals } else { Data::Integers };
            elements::<f32>(data, 1, number, 1, self.length).into_iter().map(f64::from).collect()
        };
        let values: Vec<f64> = match self.holds {
            Contents::Zeros => vec![0.0; self.length],
            Contents::Index => (0..self.length).map(|index| index as f64).collect(),
            Contents::Random => random(self.element == Element::Float),
            Contents::Constant => vec![self.value; self.length],
        };
        let bytes = |value: f64| match self.element {
            Element::Float => (value as f32).to_le_bytes(),
            Element::Int => (value as i32).to_le_bytes(),
        };
        values.into_iter().flat_map(bytes).collect()
    }
}

impl Element {
    fn texts(self, bytes: &[u8]) -> Vec<String> {
        let text = |&bytes: &[u8; 4]| match self {
            Self::Float => f32::from_le_bytes(bytes).to_string(),
            Self::Int => i32::from_le_bytes(bytes).to_string(),
        };
        bytes.as_chunks().0.iter().map(text).collect()
    }
}
