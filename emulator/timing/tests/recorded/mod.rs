//! Launches that were timed on an H200, and their predictions.

#![allow(dead_code, reason = "each program that includes this uses a part")]

pub(crate) mod mapped;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mapped::Mapped;
use records::record::{Outcome, Record};
use simt::gpu::{Argument, Gpu};
use simt::launch::{LaunchOptions, LaunchRequest};
use simt::module::Module;
use timing::accuracy::Set;
use timing::{Chip, LoadedCode, Prediction, predict};

#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) set: Set,
    /// Entry point, or the task that it is for.
    pub(crate) name: String,
    /// M, N and K; K is 0 where there is none.
    pub(crate) shape: [u32; 3],
    /// Median with warm caches.
    pub(crate) measured_us: f64,
    pub(crate) entry: String,
    pub(crate) cubin: PathBuf,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    pub(crate) arguments: Vec<Given>,
}

#[derive(Debug, Clone)]
pub(crate) enum Given {
    Int(i32),
    Float(f32),
    /// A structure of integers.
    Ints(Vec<i32>),
    /// A buffer of this many bytes.
    Buffer(usize),
    /// A buffer that is described by a tensor map.
    Map(Mapped),
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn data(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Launches of `tests/data`, timed by replaying a CUDA graph of them.
pub(crate) fn replayed(set: Set) -> Vec<Launch> {
    let name = set.name();
    let times = data(&format!("h200-{name}.txt"));
    let times: BTreeMap<&str, f64> = times
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[0], words[6].parse().expect("microseconds"))
        })
        .collect();
    let launch = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words[i].parse::<u32>().expect("a number");
        let (name, shape) = words[0].split_once('@').expect("kernel@shape");
        let shape: Vec<u32> = shape.split('x').map(|n| n.parse().expect("a size")).collect();
        let argument = |word: &&str| match word.split_at(1) {
            ("i", value) => Given::Int(value.parse().expect("an integer")),
            ("f", value) => Given::Float(value.parse().expect("a number")),
            (_, value) => Given::Buffer(value.parse().expect("bytes")),
        };
        Launch {
            set,
            name: name.trim_start_matches("double.").to_owned(),
            shape: [shape[0], shape[1], shape[2]],
            measured_us: times[words[0]],
            entry: words[2].to_owned(),
            cubin: cubin(words[1]),
            grid: [number(3), number(4), number(5)],
            block: [number(6), number(7), number(8)],
            dynamic_shared: number(9),
            arguments: words[11..].iter().map(argument).collect(),
        }
    };
    data(&format!("h200-{name}-launches.txt")).lines().map(launch).collect()
}

/// Returns machine code for a PTX file: beside the PTX of `kernels`, or in `tests/data`.
pub(crate) fn cubin(ptx: &str) -> PathBuf {
    match ptx.strip_prefix("kernels/ptx/") {
        _ if ptx.ends_with(".z") => root().join("emulator/timing/tests/data").join(ptx),
        Some(name) => root().join("kernels/cubin").join(Path::new(name).with_extension("cubin")),
        None => {
            let name = ptx.trim_start_matches("steps/").trim_end_matches(".ptx").replace("/tasks/", "-");
            let held_out = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/held-out");
            held_out.join(format!("{name}.cubin.z"))
        }
    }
}

/// Returns the machine code of each FP32 kernel of v11 that takes sizes, alpha and three matrices.
fn scaled() -> BTreeMap<&'static str, PathBuf> {
    let kernels = catalog::STEPS.iter().filter(|step| step.id == "v11").flat_map(|step| step.kernels);
    let takes_matrices = |name: &str, path: &Path| {
        let module = sass::Module::read(&fs::read(path).expect("it is committed")).expect("it is read");
        let kernel = module.kernels.into_iter().find(|kernel| kernel.name == name);
        let sizes = kernel.map(|kernel| kernel.parameters.iter().map(|parameter| parameter.size).collect::<Vec<u32>>());
        sizes.is_some_and(|sizes| sizes == [4, 4, 4, 4, 8, 8, 8])
    };
    let code = |kernel: &catalog::CatalogKernel| {
        let path = cubin(&format!("kernels/ptx/{}", kernel.source?)).with_extension("cubin");
        takes_matrices(kernel.name, &path).then_some((kernel.name, path))
    };
    kernels.filter_map(code).collect()
}

/// Launches of the book's record on an H200 that were not replayed.
pub(crate) fn recorded(replayed: &[Launch]) -> Vec<Launch> {
    let record = Record::load(&root().join("book/data/h200.json")).expect("a record");
    let scaled = scaled();
    let launch = |measurement: records::record::Measurement| {
        let Outcome::Passed(passed) = measurement.outcome else { return None };
        let like = replayed.iter().find(|launch| launch.entry == measurement.kernel);
        let (cubin, alpha) = match (like, scaled.get(measurement.kernel.as_str())) {
            (Some(like), _) => (like.cubin.clone(), None),
            (None, Some(cubin)) => (cubin.clone(), Some(Given::Float(1.0))),
            (None, None) => return None,
        };
        let shape = [measurement.shape.m, measurement.shape.n, measurement.shape.k];
        let [m, n, k] = shape;
        let elements = if k == 0 { vec![m * n, m * n] } else { vec![m * k, k * n, m * n] };
        let bytes = if measurement.kernel.starts_with("dgemm") { 8 } else { 4 };
        let sizes = shape.iter().take(if k == 0 { 2 } else { 3 });
        let sizes = sizes.map(|&size| Given::Int(size as i32));
        let buffers = elements.into_iter().map(|n| Given::Buffer(n * bytes));
        Some(Launch {
            set: Set::Ladder,
            name: measurement.kernel.clone(),
            shape: shape.map(|size| size as u32),
            measured_us: passed.hot.as_ref()?.median() * 1e3,
            entry: measurement.kernel,
            cubin,
            grid: passed.grid,
            block: passed.block,
            dynamic_shared: passed.dynamic_shared,
            arguments: sizes.chain(alpha).chain(buffers).collect(),
        })
    };
    let mut launches: Vec<Launch> = record.measurements.into_iter().filter_map(launch).collect();
    launches.retain(|launch| !replayed.iter().any(|other| other.is_same(launch)));
    launches
}

/// Launches that Nsight Compute profiled.
pub(crate) fn profiled() -> Vec<Launch> {
    let path = root().join("book/data/h200-busiest.json");
    let record = records::busiest::BusiestRecord::load(&path).expect("a record");
    let launch = |one: records::busiest::Launch| {
        let shape = [one.shape.m, one.shape.n, one.shape.k].map(|size| size as u32);
        let sizes = shape.iter().take(if shape[2] == 0 { 2 } else { 3 });
        let sizes = sizes.map(|&size| Given::Int(size as i32));
        let floats = one.floats.into_iter().map(Given::Float);
        let matrices = match mapped::find(&one.kernel, shape) {
            Some((_, factors, c)) => {
                factors.map(Given::Map).into_iter().chain([c.map_or_else(Given::Buffer, Given::Map)]).collect()
            }
            None => one.buffers.into_iter().map(Given::Buffer).collect::<Vec<_>>(),
        };
        Launch {
            set: Set::Ladder,
            name: one.kernel.clone(),
            shape,
            measured_us: one.metrics["gpu__time_duration.sum"] / 1e3,
            entry: one.kernel,
            cubin: root().join(one.code),
            grid: one.grid,
            block: one.block,
            dynamic_shared: one.dynamic_shared,
            arguments: sizes.chain(floats).chain(matrices).collect(),
        }
    };
    record.launches.into_iter().map(launch).collect()
}

/// Part of the highest clock from which on the power limit counts as not reached. The driver's reading of the clock
/// falls at the limit, and not while tensor cores work below it, though the SMs count fewer clocks then.
const FULL_CLOCK: f64 = 0.99;

/// Launches of the book's record whose kernels copy boxes of matrices, or multiply on tensor cores, below the power
/// limit.
pub(crate) fn mapped() -> Vec<Launch> {
    let record = Record::load(&root().join("book/data/h200.json")).expect("a record");
    let launch = |measurement: records::record::Measurement| {
        let Outcome::Passed(passed) = measurement.outcome else { return None };
        let lowest = passed.clock_mhz.map(|[lowest, _]| f64::from(lowest))?;
        if lowest < FULL_CLOCK * 1e3 * Chip::h200().ghz {
            return None;
        }
        let shape = [measurement.shape.m, measurement.shape.n, measurement.shape.k].map(|size| size as u32);
        let sizes = shape.map(|size| Given::Int(size as i32)).into_iter();
        let (file, arguments): (String, Vec<Given>) = match mapped::find_unmapped(&measurement.kernel) {
            Some((file, [factor, result], has_alpha)) => {
                let [m, n, k] = shape.map(|size| size as usize);
                let bytes = [m * k * factor, k * n * factor, m * n * result];
                let alpha = has_alpha.then_some(Given::Float(1.0));
                (file, sizes.chain(alpha).chain(bytes.map(Given::Buffer)).collect())
            }
            None => {
                let (file, factors, c) = mapped::find(&measurement.kernel, shape)?;
                let c = c.map_or_else(Given::Buffer, Given::Map);
                let matrices = factors.map(Given::Map).into_iter().chain([c]);
                (file.to_owned(), sizes.chain([Given::Float(1.0)]).chain(matrices).collect())
            }
        };
        Some(Launch {
            set: Set::Asynchronous,
            name: measurement.kernel.clone(),
            shape,
            measured_us: passed.hot.as_ref()?.median() * 1e3,
            entry: measurement.kernel,
            cubin: cubin(&format!("kernels/ptx/{file}.ptx")),
            grid: passed.grid,
            block: passed.block,
            dynamic_shared: passed.dynamic_shared,
            arguments,
        })
    };
    record.measurements.into_iter().filter_map(launch).collect()
}

pub(crate) fn ladder() -> Vec<Launch> {
    let mut launches = replayed(Set::Ladder);
    launches.extend(recorded(&launches));
    launches.sort_by(|a, b| (&a.name, a.shape).cmp(&(&b.name, b.shape)));
    launches
}

impl Launch {
    fn is_same(&self, other: &Launch) -> bool {
        (&self.entry, self.shape) == (&other.entry, other.shape)
    }

    /// Multiplications of a product, or elements of a transpose.
    pub(crate) fn work(&self) -> u64 {
        self.shape.iter().map(|&n| u64::from(n.max(1))).product()
    }

    /// Predicts the launch. The values of the operands do not matter to these kernels.
    pub(crate) fn predicted(&self) -> Result<Prediction, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let mut bytes = fs::read(&self.cubin).map_err(|error| format!("{}: {error}", self.cubin.display()))?;
        if self.cubin.extension().is_some_and(|extension| extension == "z") {
            bytes = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).map_err(|error| text(&error))?;
        }
        let mut code = sass::Module::read(&bytes).map_err(|error| text(&error))?;
        code.kernels.retain(|kernel| kernel.name == self.entry);
        let gpu = Gpu::with_memory(1 << 34);
        let module = Module::load_machine_code(&gpu.memory, &code, None).map_err(|error| text(&error))?;
        let kernel = module.kernel(&self.entry).ok_or("no such kernel")?;
        let argument = |given: &Given| match *given {
            Given::Int(value) => Argument::from(value),
            Given::Float(value) => Argument::from(value),
            Given::Ints(ref values) => Argument(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
            Given::Buffer(bytes) => gpu.alloc::<u8>(bytes).into(),
            Given::Map(map) => Argument(map.encoded(gpu.alloc::<u8>(map.bytes()))),
        };
        let arguments: Vec<Argument> = self.arguments.iter().map(argument).collect();
        let request = LaunchRequest {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            params: kernel.param_block(&arguments).map_err(|error| text(&error))?,
            options: LaunchOptions::default(),
        };
        predict(Chip::h200(), LoadedCode { code: &code.kernels[0], kernel, gpu: &gpu }, &request)
            .map_err(|error| text(&error))
    }
}
