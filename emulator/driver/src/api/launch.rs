//! Kernel launches.
//!
//! Errors of a launch are returned at once; errors in the kernel by every call from the next synchronisation on.

use std::ffi::c_uint;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use diagnostics::Report;
use simt::check::Severity;
use simt::launch::{Environment, LaunchRefused, LaunchRequest};
use simt::memory::Origin;
use simt::occupancy::blocks_per_sm;
use simt::texture::Textures;

use crate::allocations::{self, FIRST_DEVICE_ADDRESS};
use crate::api::function::{self, footprint_of, max_threads};
use crate::api::{library::function_of, module::Function, predict, texture};
use crate::attributes::limit;
use crate::contexts::{Context, MEMORY};
use crate::cuda_constants::{launch as ids, node};
use crate::diagnose;
use crate::ffi::{In, export, read_process};
use crate::reports::{self, LaunchResult};
use crate::result::*;
use crate::streams::usable_stream;
use crate::types::{Handle, LaunchConfigC};
use crate::unwritten;
use crate::{graphs::Work, host_mistakes, queue::JobThread};
use crate::{settings, staging};

#[derive(Debug, Clone, Copy)]
pub(crate) struct GridSpec {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) dynamic_shared: c_uint,
    /// Whether all blocks are resident at once and may wait for each other.
    pub(crate) cooperative: bool,
    /// Blocks of a cluster in x, y and z, if the launch specifies them.
    pub(crate) cluster: Option<[c_uint; 3]>,
    /// [`simt::launch::LaunchOptions::begins_early`].
    pub(crate) begins_early: bool,
}

impl GridSpec {
    pub(crate) fn new(grid: [c_uint; 3], block: [c_uint; 3], dynamic_shared: c_uint) -> Self {
        Self { grid, block, dynamic_shared, cooperative: false, cluster: None, begins_early: false }
    }
}

/// `CU_LAUNCH_PARAM_END`, and its relatives.
const PARAM_END: usize = 0;
const PARAM_POINTER: usize = 1;
const PARAM_SIZE: usize = 2;

/// Prints why a launch is refused: the driver has a single code for all reasons except those about clusters.
fn refuse(function: &Function, request: &LaunchRequest, why: &LaunchRefused) -> CUresult {
    if settings::current().diagnosis {
        diagnose::refusal(&diagnostics::refusal(function.loaded.kernel(), request, why));
    }
    match why {
        LaunchRefused::ClusterSize { .. }
        | LaunchRefused::GridOfClusters { .. }
        | LaunchRefused::OtherCluster { .. }
        | LaunchRefused::NoCluster => ERROR_INVALID_CLUSTER_SIZE,
        _ => ERROR_INVALID_VALUE,
    }
}

/// Returns the clusters that a launch requests, or that the program or the compiler has set for the kernel.
pub(crate) fn clusters(
    function: &Function, grid: [c_uint; 3], requested: Option<[c_uint; 3]>,
) -> Result<Option<[c_uint; 3]>, LaunchRefused> {
    let kernel = function.loaded.kernel();
    let set = function.set_cluster();
    if let (Some(required), Some(requested)) = (set, requested)
        && required != requested
    {
        return Err(LaunchRefused::OtherCluster { required });
    }
    simt::launch::check_cluster(kernel, grid, requested.or(set))?;
    let cluster = requested.or(set).or(kernel.cluster.required);
    let blocks = cluster.map_or(1, |cluster| cluster.iter().product());
    match function.nonportable_cluster.load(Ordering::Relaxed) {
        0 if blocks > limit::CLUSTER_PORTABLE => {
            Err(LaunchRefused::ClusterSize { cluster: cluster.unwrap_or([1; 3]), most: limit::CLUSTER_PORTABLE })
        }
        _ => Ok(cluster),
    }
}

/// Checks a launch before anything runs.
fn check(function: &Function, request: &LaunchRequest, requested: Option<[c_uint; 3]>) -> Outcome {
    let allowed = function.max_dynamic_shared.load(Ordering::Relaxed).max(0) as u32;
    simt::launch::check(function.loaded.kernel(), request, Some(allowed))
        .and_then(|()| clusters(function, request.grid, requested))
        .map_err(|why| refuse(function, request, &why))?;
    let threads = request.block.iter().product::<u32>();
    if threads > max_threads(function) {
        let registers = function::registers(function);
        if settings::current().diagnosis {
            let kernel = function.loaded.kernel();
            diagnose::refusal(&diagnostics::too_many_registers(kernel, threads, registers, limit::REGISTERS));
        }
        return Err(ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    Ok(())
}

/// Reads arguments by pointers, one per parameter of the kernel. A stray pointer is an error, not a crash.
///
/// # Safety
/// `pointers` is null, or has a pointer to each argument of the kernel.
unsafe fn gather(function: &Function, request: &LaunchRequest, pointers: In<u64>) -> Outcome<Vec<u8>> {
    let kernel = function.loaded.kernel();
    let mut block = vec![0; kernel.param_bytes as usize];
    let n = kernel.params.len();
    if n == 0 {
        return Ok(block);
    }
    let missing = |count: usize| refuse(function, request, &LaunchRefused::ParameterCount { given: count });
    if pointers.is_null() {
        return Err(missing(0));
    }
    let mut raw = vec![0u8; n * 8];
    let from = (pointers.address() as u64, raw.len());
    let addresses: Vec<u64> = match read_process(&[from], &mut [raw.as_mut_slice()]) {
        Some(true) => raw.chunks_exact(8).map(|c| u64::from_ne_bytes(c.try_into().unwrap_or([0; 8]))).collect(),
        Some(false) => return Err(missing(0)),
        // SAFETY: the caller promises a pointer for each parameter of the kernel.
        None => unsafe { pointers.list(n) }?,
    };
    if let Some(null) = addresses.iter().position(|a| *a == 0) {
        return Err(missing(null));
    }
    let sources: Vec<(u64, usize)> =
        addresses.iter().zip(&kernel.params).map(|(a, p)| (*a, p.bytes as usize)).collect();
    let mut arguments: Vec<Vec<u8>> = kernel.params.iter().map(|p| vec![0; p.bytes as usize]).collect();
    let mut targets: Vec<&mut [u8]> = arguments.iter_mut().map(Vec::as_mut_slice).collect();
    match read_process(&sources, &mut targets) {
        Some(true) => {}
        Some(false) => {
            let readable = sources.iter().take_while(|s| crate::ffi::can_read(s.0, s.1)).count();
            return Err(missing(readable));
        }
        None => {
            for (argument, (address, bytes)) in arguments.iter_mut().zip(sources) {
                // SAFETY: the caller promises an argument as large as its parameter.
                unsafe { crate::ffi::Host::new(address).read(&mut argument[..bytes]) };
            }
        }
    }
    for (param, argument) in kernel.params.iter().zip(&arguments) {
        let at = param.offset as usize;
        let place = block.get_mut(at..at + argument.len()).ok_or(ERROR_UNKNOWN)?;
        place.copy_from_slice(argument);
    }
    Ok(block)
}

/// Reads arguments in one buffer, as `extra` gives it.
///
/// # Safety
/// `extra` is a list of keys and values that ends with `CU_LAUNCH_PARAM_END`; the values are those that the keys
/// require.
unsafe fn from_extra(function: &Function, request: &LaunchRequest, extra: In<usize>) -> Outcome<Vec<u8>> {
    let wanted = function.loaded.kernel().param_bytes as usize;
    let (mut buffer, mut size) = (0, None);
    for i in 0.. {
        // SAFETY: the list goes on, since no key so far was its end.
        let key = unsafe { extra.at(i * 2) }?;
        // SAFETY: called only for a key that is not the end.
        let value = || unsafe { extra.at(i * 2 + 1) };
        match key {
            PARAM_END => break,
            PARAM_POINTER => buffer = value()?,
            PARAM_SIZE => {
                // SAFETY: the place of a size, by its key.
                size = Some(unsafe { In::new(value()? as *const usize) }.get()?);
            }
            _ => return Err(ERROR_INVALID_VALUE),
        }
    }
    let size = size.ok_or(ERROR_INVALID_VALUE)?;
    if size < wanted || (buffer == 0 && wanted > 0) {
        return Err(refuse(function, request, &LaunchRefused::ParameterBytes { given: size }));
    }
    if size > wanted && wanted > 0 {
        refuse(function, request, &LaunchRefused::ParameterBytes { given: size });
        return Err(ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    // SAFETY: a buffer of that size, by its keys.
    unsafe { In::new(buffer as *const u8).list(wanted) }
}

/// # Safety
/// The arguments are those that `cuLaunchKernel` requires: a pointer to each argument of the kernel, or a terminated
/// list.
pub(crate) unsafe fn arguments(
    function: &Function, request: &LaunchRequest, pointers: In<u64>, extra: In<usize>,
) -> Outcome<Vec<u8>> {
    match (pointers.is_null(), extra.is_null()) {
        (false, false) => Err(ERROR_INVALID_VALUE),
        // SAFETY: `extra` is a valid list, as this function requires.
        (true, false) => unsafe { from_extra(function, request, extra) },
        // SAFETY: there is a pointer for each parameter, as this function requires.
        _ => unsafe { gather(function, request, pointers) },
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

#[derive(Clone, Copy)]
struct LaunchMode {
    /// Whether diagnostics are printed to standard error.
    prints: bool,
    /// Whether the time on a real GPU is predicted, in place of the launch.
    predict: bool,
}

/// A launch of a kernel, checked, with copies of its arguments.
pub(crate) struct Kernel {
    pub(crate) function: Arc<Function>,
    /// Handle of the function or library kernel, as the program has it.
    pub(crate) handle: Handle,
    pub(crate) shape: GridSpec,
    request: LaunchRequest,
    mode: LaunchMode,
    workspace: Option<Workspace>,
    pub(crate) slot: Arc<reports::Slot>,
    pointers: OnceLock<Vec<usize>>,
}

impl Kernel {
    /// Checks a launch and reads its arguments.
    pub(crate) fn new(
        handle: Handle, shape: GridSpec, context: &Context,
        arguments: &dyn Fn(&Function, &LaunchRequest) -> Outcome<Vec<u8>>,
    ) -> Outcome<Self> {
        let predict = settings::takes_prediction();
        let function = function_of(handle)?;
        refuse_if(function.context_id != context.id, ERROR_INVALID_HANDLE)?;
        let mut request = LaunchRequest {
            grid: shape.grid,
            block: shape.block,
            dynamic_shared: shape.dynamic_shared,
            params: Vec::new(),
            options: settings::options_for(&function.loaded.kernel().name, &function.sources),
        };
        request.options.cluster = shape.cluster.or_else(|| function.set_cluster());
        request.options.begins_early = shape.begins_early;
        check(&function, &request, shape.cluster)?;
        let workspace = if shape.cooperative {
            check_cooperative(&function, shape)?;
            Some(Workspace::new()?)
        } else {
            None
        };
        request.options.stack_bytes = context.stack_bytes();
        request.options.registers = function.info.registers;
        request.options.grid_workspace = workspace.as_ref().map(|w| w.0);
        request.params = arguments(&function, &request)?;
        let mode = LaunchMode { prints: settings::current().diagnosis, predict };
        let slot = Arc::default();
        Ok(Self { function, handle, shape, request, mode, workspace, slot, pointers: OnceLock::new() })
    }

    /// Returns the addresses of the arguments, one for each parameter: valid as long as this is.
    pub(crate) fn arguments(&self) -> &[usize] {
        let start = self.request.params.as_ptr() as usize;
        let params = &self.function.loaded.kernel().params;
        self.pointers.get_or_init(|| params.iter().map(|param| start + param.offset as usize).collect())
    }
}

impl Work for Kernel {
    fn kind(&self) -> u32 {
        node::KERNEL
    }

    fn thread(&self) -> JobThread {
        JobThread::Worker
    }

    fn label(&self) -> String {
        diagnostics::plain_name(&self.function.loaded.kernel().name).to_owned()
    }

    fn run(&self, context: &Context) -> Outcome {
        let Self { function, request, mode: LaunchMode { prints, predict }, .. } = self;
        if *prints && !predict {
            host_mistakes::constants(&function.loaded.kernel().name, &function.unset_constants);
        }
        let textures = if function.has_textures { texture::all() } else { Textures::default() };
        if *predict {
            self.slot.set(LaunchResult::Predicted(predict::report(function, request, textures)));
            return Ok(());
        }
        self.workspace.as_ref().map_or(Ok(()), Workspace::clear)?;
        let environment = Environment { textures: &textures, clock: &now, observer: None };
        match simt::launch::launch(&MEMORY, &function.loaded, request, environment) {
            Ok(report) => {
                let report = Report::new(report, &function.loaded, request);
                context.print(&report.printed);
                if *prints {
                    diagnose::findings(&report.findings);
                    host_mistakes::remember_outputs(&report.undefined_outputs);
                    unwritten::note_launch(function.loaded.kernel(), request);
                }
                let worst = report.findings.iter().find(|f| f.severity == Severity::Error);
                let outcome = worst.map_or(Ok(()), |finding| Err(diagnose::code_of(finding.code)));
                self.slot.set(LaunchResult::Ran(Box::new(report)));
                outcome
            }
            Err(refused) => {
                // The launch has been checked; only the machine itself can still refuse it.
                if *prints {
                    diagnose::refusal(&diagnostics::refusal(function.loaded.kernel(), request, &refused));
                }
                Err(ERROR_LAUNCH_FAILED)
            }
        }
    }
}

pub(crate) fn launch_with(handle: Handle, shape: GridSpec, stream: Handle, arguments: &[u8]) -> Outcome {
    launch_by(handle, shape, stream, &|function, request| {
        let wanted = function.loaded.kernel().param_bytes as usize;
        if arguments.len() < wanted {
            let given = arguments.len();
            return Err(refuse(function, request, &LaunchRefused::ParameterBytes { given }));
        }
        Ok(arguments[..wanted].to_vec())
    })
}

fn launch(handle: Handle, shape: GridSpec, stream: Handle, pointers: In<u64>, extra: In<usize>) -> Outcome {
    // SAFETY: the caller of a launch promises valid arguments.
    launch_by(handle, shape, stream, &|function, request| unsafe { arguments(function, request, pointers, extra) })
}

fn launch_by(
    handle: Handle, shape: GridSpec, stream_handle: Handle,
    arguments: &dyn Fn(&Function, &LaunchRequest) -> Outcome<Vec<u8>>,
) -> Outcome {
    reports::forget();
    let stream = usable_stream(stream_handle)?;
    // Unlike other calls, a launch that is refused invalidates a capture.
    let kernel = Kernel::new(handle, shape, &stream.context, arguments)
        .or_else(|code| stream.capture.position().map_or(Err(code), |position| position.capture.refuse(code)))?;
    let mut words = kernel.request.params.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let is_of_host = |word: u64| word < FIRST_DEVICE_ADDRESS && allocations::find(word).is_some();
    if staging::is_tracking() && words.any(is_of_host) {
        // The kernel can write to host memory how far the stream is.
        staging::settle_awaited(stream.context.queue.id(), u64::MAX);
    }
    let slot = Arc::clone(&kernel.slot);
    if let Some(ticket) = stream.enqueue(Arc::new(kernel))? {
        reports::remember(&stream.context, ticket, slot);
    }
    Ok(())
}

/// Returns three 32-bit dimensions; three zeros count as absent.
pub(crate) fn cluster_dimension(value: &[u64; 8]) -> Option<[c_uint; 3]> {
    let dimensions = [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32];
    (dimensions != [0; 3]).then_some(dimensions)
}

/// Memory through which the blocks of a cooperative launch synchronise.
struct Workspace(u64);

impl Workspace {
    fn new() -> Outcome<Self> {
        let origin = Origin::new("the workspace of a cooperative launch");
        let address = MEMORY.alloc(8, origin).map_err(|_| ERROR_OUT_OF_MEMORY)?;
        Ok(Self(address))
    }

    fn clear(&self) -> Outcome {
        MEMORY.write(self.0, &[0; 8]).map_err(|_| ERROR_UNKNOWN)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // A kernel can find its address, but not free it.
        let _ = MEMORY.free(self.0);
    }
}

/// Checks that all blocks of a cooperative launch are resident at once.
fn check_cooperative(function: &Function, shape: GridSpec) -> Outcome {
    let fit = blocks_per_sm(footprint_of(function, shape.block, shape.dynamic_shared));
    let fit = u64::from(fit) * u64::from(limit::SMS);
    let blocks = shape.grid.iter().map(|n| u64::from(*n)).fold(1, u64::saturating_mul);
    // A block that is too large by itself gets its own error from the launch.
    if fit > 0 && blocks > fit {
        diagnose::print_once(&format!(
            "a cooperative grid of {blocks} blocks does not fit on the device at once; {fit} would"
        ));
        return Err(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

export! {
    fn cuLaunchKernel 4000 / cuLaunchKernel_ptsz (
        handle: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, dynamic: c_uint,
        stream: Handle, pointers: In<u64>, extra: In<usize>,
    ) =
        launch(handle, GridSpec::new([gx, gy, gz], [bx, by, bz], dynamic), stream, pointers, extra);

    fn cuLaunchKernelEx 11060 / cuLaunchKernelEx_ptsz (
        config: In<LaunchConfigC>, handle: Handle, pointers: In<u64>, extra: In<usize>,
    ) {
        crate::lifecycle::initialised()?;
        let config = config.get()?;
        let mut shape = GridSpec::new(config.grid, config.block, config.shared_bytes);
        // SAFETY: the caller promises as many attributes.
        let attributes = unsafe { In::new(config.attributes.cast_const()).list(config.n_attributes as usize) }?;
        for attribute in attributes {
            match attribute.id {
                // These attributes have no effect here; launches run one after the other.
                ids::IGNORE | ids::ACCESS_POLICY_WINDOW | ids::SYNCHRONIZATION_POLICY | ids::CLUSTER_SCHEDULING_POLICY_PREFERENCE
                | ids::PRIORITY | ids::MEM_SYNC_DOMAIN_MAP | ids::MEM_SYNC_DOMAIN => {}
                ids::PROGRAMMATIC_STREAM_SERIALIZATION => shape.begins_early = attribute.value[0] as u32 != 0,
                ids::COOPERATIVE => shape.cooperative = attribute.value[0] as u32 != 0,
                ids::CLUSTER_DIMENSION => shape.cluster = cluster_dimension(&attribute.value),
                ids::DEVICE_UPDATABLE_KERNEL_NODE if attribute.value[0] as u32 == 0 => {}
                other => {
                    diagnose::print_once(&format!("cuLaunchKernelEx: launch attribute {other} is not supported"));
                    return Err(ERROR_NOT_SUPPORTED);
                }
            }
        }
        launch(handle, shape, config.stream, pointers, extra)
    }

    fn cuLaunchCooperativeKernel 9000 / cuLaunchCooperativeKernel_ptsz (
        handle: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, dynamic: c_uint,
        stream: Handle, pointers: In<u64>,
    ) {
        let shape = GridSpec { cooperative: true, ..GridSpec::new([gx, gy, gz], [bx, by, bz], dynamic) };
        launch(handle, shape, stream, pointers, In::null())
    }
}
