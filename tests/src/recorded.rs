//! The launches that Nsight Compute looked at on a GPU (`book/data/*-counters.json`), made again.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use catalog::files::files_ending_with;
use catalog::provenance::with_only;
use catalog::{CatalogKernel, STEPS, Shape, Work};
use counters::Counters;
use records::profile::{Profile, ProfileRecord, SHAPES};
use simt::launch::{CheckLevel, LaunchOptions};
use simt::module::Module;

use crate::gpu::{Argument, Geometry, Gpu};
use crate::{read, root};

pub static RECORDS: LazyLock<Vec<ProfileRecord>> = LazyLock::new(|| {
    let paths = files_ending_with(&root().join("book/data"), "-counters.json").expect("records");
    let load = |path: &PathBuf| ProfileRecord::load(path).unwrap_or_else(|error| panic!("{error}"));
    paths.iter().map(load).collect()
});

pub fn profiles() -> impl Iterator<Item = &'static Profile> {
    RECORDS.iter().flat_map(|record| &record.profiles)
}

pub fn kernel(name: &str) -> &'static CatalogKernel {
    let found = STEPS.iter().find_map(|step| step.kernel(name));
    found.unwrap_or_else(|| panic!("{name} is in a record, and not in the catalogue"))
}

/// Returns the machine code for sm_90 of a kernel's file.
pub fn cubin(source: &str) -> Vec<u8> {
    let name = source.trim_end_matches(".cu");
    let path = root().join(format!("kernels/cubin/{name}.cubin"));
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn ptx(source: &str) -> String {
    let name = source.trim_end_matches(".cu");
    read(format!("kernels/ptx/{name}.ptx"))
}

/// Loads one kernel of the ladder from its PTX.
pub fn load(gpu: &Gpu, kernel: &CatalogKernel) -> Module {
    let text = with_only(&[kernel.name], &ptx(kernel.source.expect("a source")));
    gpu.load(&text).unwrap_or_else(|error| panic!("{}: {error}", kernel.name))
}

/// Loads one kernel of the ladder from its machine code.
pub fn machine_code(gpu: &Gpu, kernel: &CatalogKernel) -> Module {
    machine_code_of(gpu, kernel.source.expect("a source"), &[kernel.name])
}

/// Loads kernels of a file of the ladder from its machine code, those that the file has.
pub fn machine_code_of(gpu: &simt::gpu::Gpu, source: &str, kernels: &[&str]) -> Module {
    let mut module = sass::Module::read(&cubin(source)).unwrap_or_else(|error| panic!("{source}: {error}"));
    module.kernels.retain(|kernel| kernels.contains(&kernel.name.as_str()));
    Module::load_machine_code(&gpu.memory, &module, None).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// For kernels whose arguments, tensor maps, are made by the program of their step: what the columns of all matrices
/// have to be a multiple of. The step's own tests count such kernels.
pub fn columns_of_maps(kernel: &str) -> Option<usize> {
    match kernel {
        "sgemm_v11_producer"
        | "sgemm_v11_split_k"
        | "sgemm_v11_stream_k"
        | "sgemm_v11_rescheduled"
        | "gemm_v12_tf32_f32" => Some(4),
        "gemm_v12_mma_ring_f32" | "gemm_v12_mma_ring_bf16" => None,
        "sgemm_v12_six_bf16" => Some(1),
        name if name.starts_with("gemm_v12_fp8_") => Some(16),
        name => name.starts_with("gemm_v12_").then_some(8),
    }
}

/// Returns the sizes that a kernel of the ladder takes, and the elements of each of its operands.
pub fn sizes_and_elements(kernel: &CatalogKernel, Shape { m, n, k }: Shape) -> (Vec<usize>, Vec<usize>) {
    match kernel.work {
        Work::Transpose => (vec![m, n], vec![m * n, m * n]),
        _ => (vec![m, n, k], vec![m * k, k * n, m * n]),
    }
}

/// Returns the arguments of a kernel of the ladder: sizes, the factor alpha if it has one, and where its operands are.
pub fn arguments(module: &Module, name: &str, sizes: &[usize], operands: &[u64]) -> Vec<Argument> {
    let kernel = module.kernel(name).unwrap_or_else(|| panic!("{name} is not in its module"));
    let n_params = kernel.kernel().params.len();
    let alpha = (n_params > sizes.len() + operands.len()).then(|| Argument::from(1.0f32));
    let sizes = sizes.iter().map(|&size| Argument::from(size as i32));
    let operands = operands.iter().map(|&address| Argument::from(address));
    sizes.chain(alpha).chain(operands).collect()
}

/// Counts a launch by one row of its blocks, which stands for all whole rows, and by the last row if it is a part.
///
/// A kernel that reads the size of its grid, or whose rows of blocks do not follow from its sizes alone, is launched as
/// a whole.
pub fn count_of_rows(gpu: &Gpu, module: &Module, profile: &Profile) -> Counters {
    let kernel = kernel(&profile.kernel);
    let [x, n_rows, z] = profile.grid;
    let m = profile.shape.m;
    let row_of = |m: usize| {
        let shape = Shape { m, ..profile.shape };
        count_of(gpu, module, &Profile { grid: [x, 1, z], shape, ..profile.clone() })
    };
    let reads_grid = kernel.source.is_none_or(|source| ptx(source).contains("%nctaid"));
    // Of operands that are stored row by row, the last rows are a matrix by themselves.
    let by_rows = matches!(kernel.work, Work::Sgemm | Work::Dgemm | Work::Tensor { .. });
    let rows = rows_of_a_block(profile).filter(|_| !reads_grid);
    let Some(rows) = rows.filter(|rows| by_rows || m == rows * n_rows as usize) else {
        return count_of(gpu, module, profile);
    };
    let whole = row_of(m);
    let in_last = m - rows * (n_rows as usize - 1);
    let mut all = if in_last == rows { whole } else { row_of(in_last) };
    (1..n_rows).for_each(|_| all.add(&whole));
    all
}

/// Returns the rows of the matrix that a row of blocks has, by the grid on the size that all tiles divide. Rows of
/// blocks must start at equal places in sectors of 32 bytes.
fn rows_of_a_block(profile: &Profile) -> Option<usize> {
    let [divided, ..] = SHAPES;
    let whole = profiles().find(|one| one.kernel == profile.kernel && one.shape.m == divided.m)?;
    let rows = divided.m / whole.grid[1] as usize;
    (rows.is_multiple_of(8) && profile.shape.m.div_ceil(rows) == profile.grid[1] as usize).then_some(rows)
}

fn count_of(gpu: &Gpu, module: &Module, profile: &Profile) -> Counters {
    let kernel = kernel(&profile.kernel);
    let operand = |elements: usize| match kernel.work {
        Work::Dgemm => gpu.upload(&vec![1.0f64; elements]),
        _ => gpu.upload(&vec![1.0f32; elements]),
    };
    let (sizes, elements) = sizes_and_elements(kernel, profile.shape);
    let operands: Vec<u64> = elements.iter().map(|&n| operand(n)).collect();
    let arguments = arguments(module, &profile.kernel, &sizes, &operands);
    let shape = Geometry { grid: profile.grid, block: profile.block, dynamic_shared: profile.dynamic_shared };
    let options = LaunchOptions { check_level: CheckLevel::Count, ..LaunchOptions::default() };
    let report = gpu
        .launch(module, &profile.kernel, shape, &arguments, options)
        .unwrap_or_else(|refused| panic!("{}: {refused}", profile.kernel));
    report.total
}
