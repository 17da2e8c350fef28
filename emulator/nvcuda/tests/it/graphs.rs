//! Graphs: captured from streams and made node by node. What an H100 answers, `TILE_DEVICE=real` checks again.

use std::ffi::c_void;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::{self, CUgraphNodeType::*, CUresult::*, CUstreamCaptureMode::*};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};

use crate::common::{
    KERNELS, OwnContext, alloc, calls, emulator, event, function, launch_on, made, module, ok, report, stream,
    synchronize, words,
};
use crate::emulated::{is_alone, run_alone};

/// Captures in a mode that leaves the other tests of this process alone.
const LOCAL: sys::CUstreamCaptureMode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

#[test]
fn cudarc_captures_a_stream_and_launches_it_again() {
    crate::common::driver();
    let context = CudaContext::new(0).expect("a device");
    // SAFETY: one stream is used.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream().expect("a stream");
    let module = context.load_module(KERNELS.into()).expect("PTX");
    let (fill, increment) = (module.load_function("fill").expect("it"), module.load_function("increment").expect("it"));
    let mut out = stream.alloc_zeros::<u32>(32).expect("there is room");
    stream.synchronize().expect("nothing went wrong");
    let flags = sys::CUgraphInstantiate_flags(0);
    stream.begin_capture(LOCAL).expect("it begins");
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    let n = 32u32;
    for value in [7u32, 8] {
        // The argument is copied: the value is gone when the graph runs.
        // SAFETY: the arguments are what the kernels take.
        unsafe { stream.launch_builder(&fill).arg(&mut out).arg(&n).arg(&value).launch(config) }.expect("captured");
    }
    // SAFETY: as above.
    unsafe { stream.launch_builder(&increment).arg(&mut out).launch(config) }.expect("captured");
    assert_eq!(stream.capture_status(), Ok(sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE));
    let graph = stream.end_capture(flags).expect("it ends").expect("a graph");
    // Nothing has run yet.
    assert_eq!(stream.clone_dtoh(&out).expect("it comes back"), [0; 32]);
    for _ in 0..2 {
        graph.upload().expect("it is there");
        graph.launch().expect("it starts");
        assert_eq!(stream.clone_dtoh(&out).expect("it comes back"), [9; 32]);
    }
}

fn increment(kernel: sys::CUfunction, address: u64, stream: sys::CUstream) -> sys::CUresult {
    launch_on(stream, kernel, [1; 3], [1; 3], 0, &[address])
}

fn zeros(bytes: usize) -> u64 {
    let address = alloc(bytes);
    calls! { sys::cuMemsetD8_v2(address, 0, bytes) }
    address
}

fn begin(stream: sys::CUstream, mode: sys::CUstreamCaptureMode) {
    calls! { sys::cuStreamBeginCapture_v2(stream, mode) }
}

fn end(stream: sys::CUstream) -> (sys::CUresult, sys::CUgraph) {
    let mut graph = null_mut();
    // SAFETY: a valid place for the result.
    (unsafe { sys::cuStreamEndCapture(stream, &mut graph) }, graph)
}

fn instantiate(graph: sys::CUgraph) -> sys::CUgraphExec {
    made!(cuGraphInstantiateWithFlags(graph, 0))
}

fn run(exec: sys::CUgraphExec) {
    calls! { sys::cuGraphLaunch(exec, null_mut()) }
    ok(synchronize());
}

fn kinds(graph: sys::CUgraph) -> Vec<sys::CUgraphNodeType> {
    let (mut nodes, mut n) = ([null_mut(); 16], 16);
    calls! { sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut n) }
    let kind = |node: &sys::CUgraphNode| {
        let mut kind = CU_GRAPH_NODE_TYPE_EMPTY;
        calls! { sys::cuGraphNodeGetType(*node, &mut kind) }
        kind
    };
    nodes[..n].iter().map(kind).collect()
}

#[test]
fn streams_join_a_capture_by_events_and_must_come_back() {
    let _own = OwnContext::new();
    let (first, second, forked, joined) = (stream(1), stream(1), event(), event());
    let (a, b) = (zeros(4), zeros(4));
    // Loading a module during a capture invalidates it.
    let kernel = function(module(), "increment");
    for comes_back in [true, false] {
        begin(first, LOCAL);
        ok(increment(kernel, a, first));
        calls! {
            sys::cuEventRecord(forked, first),
            sys::cuStreamWaitEvent(second, forked, 0),
            sys::cuMemcpyDtoDAsync_v2(b, a, 4, second),
            sys::cuEventRecord(joined, second),
        }
        if comes_back {
            calls! { sys::cuStreamWaitEvent(first, joined, 0), sys::cuMemsetD32Async(a, 100, 1, first) }
        }
        let (code, graph) = end(first);
        if !comes_back {
            assert_eq!(code, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
            continue;
        }
        ok(code);
        assert_eq!(kinds(graph), [CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET]);
        let exec = instantiate(graph);
        run(exec);
        assert_eq!((words(a, 1)[0], words(b, 1)[0]), (100, 1));
        run(exec);
        assert_eq!((words(a, 1)[0], words(b, 1)[0]), (100, 101));
    }
}

type Call<'a> = &'a dyn Fn(sys::CUstream) -> sys::CUresult;

/// Makes a call during a capture: its code, and that of the capture's end.
#[track_caller]
fn during(stream: sys::CUstream, mode: sys::CUstreamCaptureMode, call: Call<'_>, codes: [sys::CUresult; 2]) {
    begin(stream, mode);
    let code = call(stream);
    let (ended, _) = end(stream);
    assert_eq!([code, ended], codes);
}

#[test]
fn what_cannot_be_captured_has_the_codes_of_a_gpu() {
    let _own = OwnContext::new();
    let (blocking, free, other, captured, before) = (stream(0), stream(1), stream(1), event(), event());
    let address = zeros(64);
    let mut host = [0u32; 4];
    let host = host.as_mut_ptr().cast::<c_void>();
    let nothing = function(module(), "nothing");
    // SAFETY: handles, addresses and host memory of this test.
    unsafe {
        ok(sys::cuEventRecord(before, null_mut()));
        ok(synchronize());
        let record = |s| ok(sys::cuEventRecord(captured, s));
        let invalid = |code| [code, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED];
        let fine = [CUDA_SUCCESS; 2];
        let unsupported = invalid(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        let allocate: Call<'_> = &|_| sys::cuMemAlloc_v2(&mut 0, 4);
        during(free, LOCAL, allocate, unsupported);
        during(free, CU_STREAM_CAPTURE_MODE_RELAXED, allocate, fine);
        during(free, LOCAL, &|s| sys::cuStreamSynchronize(s), unsupported);
        during(free, CU_STREAM_CAPTURE_MODE_RELAXED, &|s| sys::cuStreamQuery(s), unsupported);
        during(free, CU_STREAM_CAPTURE_MODE_RELAXED, &|_| sys::cuCtxSynchronize(), unsupported);
        during(free, LOCAL, &|_| sys::cuEventQuery(before), unsupported);
        let awaits = |s| (record(s), sys::cuEventSynchronize(captured)).1;
        during(free, LOCAL, &awaits, invalid(CUDA_ERROR_CAPTURED_EVENT));
        during(free, LOCAL, &|s| sys::cuStreamWaitEvent(s, before, 0), invalid(CUDA_ERROR_STREAM_CAPTURE_ISOLATION));
        during(free, LOCAL, &|s| sys::cuStreamWaitEvent(s, before, 1), fine);
        let copy: Call<'_> = &|_| sys::cuMemcpyHtoD_v2(address, host, 4);
        during(blocking, LOCAL, copy, invalid(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
        during(free, LOCAL, copy, fine);
        during(free, LOCAL, &|s| sys::cuMemcpyHtoDAsync_v2(address, host, 4, s), fine);
        let too_large = |s| launch_on(s, nothing, [1; 3], [2048, 1, 1], 0, &[]);
        during(free, LOCAL, &too_large, invalid(CUDA_ERROR_INVALID_VALUE));
        during(free, LOCAL, &|s| sys::cuStreamBeginCapture_v2(s, LOCAL), [CUDA_ERROR_ILLEGAL_STATE, CUDA_SUCCESS]);
        let legacy = |s| (record(s), sys::cuStreamWaitEvent(null_mut(), captured, 0)).1;
        during(free, LOCAL, &legacy, invalid(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
        let merge = |s| {
            begin(other, LOCAL);
            record(other);
            let code = sys::cuStreamWaitEvent(s, captured, 0);
            assert_eq!(end(other).0, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            code
        };
        during(free, LOCAL, &merge, invalid(CUDA_ERROR_STREAM_CAPTURE_MERGE));
        let joined = |s| {
            record(s);
            ok(sys::cuStreamWaitEvent(other, captured, 0));
            end(other).0
        };
        during(free, LOCAL, &joined, invalid(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
        let graph = Made::new();
        let exec = instantiate(graph.0);
        during(free, LOCAL, &|s| sys::cuGraphLaunch(exec, s), unsupported);
        during(free, LOCAL, &|_| sys::cuGraphLaunch(exec, other), fine);
        during(free, LOCAL, &|_| sys::cuGraphInstantiateWithFlags(&mut null_mut(), graph.0, 0), unsupported);
        let destroy = |s| {
            let (mut status, mut graph) = (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, null_mut());
            ok(sys::cuStreamGetCaptureInfo_v2(s, &mut status, null_mut(), &mut graph, null_mut(), null_mut()));
            sys::cuGraphDestroy(graph)
        };
        during(free, LOCAL, &destroy, [CUDA_ERROR_ILLEGAL_STATE, CUDA_SUCCESS]);
        // An event of a capture that has ended stands for nothing.
        during(other, LOCAL, &|s| (record(s), CUDA_SUCCESS).1, fine);
        during(free, LOCAL, &|s| sys::cuStreamWaitEvent(s, captured, 0), [CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS]);
        // A stream that is destroyed takes its capture with it.
        let gone = stream(1);
        begin(gone, LOCAL);
        ok(sys::cuStreamDestroy_v2(gone));
        ok(allocate(free));
        let legacy_stream = sys::cuStreamBeginCapture_v2(null_mut(), LOCAL);
        assert_eq!(legacy_stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_eq!(end(free).0, CUDA_ERROR_ILLEGAL_STATE);
    }
}

/// A capture in global mode forbids calls in all of a process, hence one of its own.
#[test]
fn a_global_capture_binds_other_threads() {
    if !is_alone() {
        run_alone("graphs::a_global_capture_binds_other_threads", &[]);
        return;
    }
    let own = OwnContext::new();
    let (stream, context) = (stream(1), own.0 as usize);
    let elsewhere = |mode| {
        let call = move || {
            let mut mode = mode;
            // SAFETY: a live context, and valid places for results.
            unsafe {
                ok(sys::cuCtxSetCurrent(context as sys::CUcontext));
                ok(sys::cuThreadExchangeStreamCaptureMode(&mut mode));
                sys::cuMemAlloc_v2(&mut 0, 4)
            }
        };
        std::thread::spawn(call).join().expect("no panic")
    };
    let (global, relaxed) = (CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED);
    let invalid = [CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED];
    during(stream, global, &|_| elsewhere(global), invalid);
    during(stream, global, &|_| elsewhere(LOCAL), [CUDA_SUCCESS; 2]);
    during(stream, global, &|_| elsewhere(relaxed), [CUDA_SUCCESS; 2]);
    during(stream, LOCAL, &|_| elsewhere(global), [CUDA_SUCCESS; 2]);
    let handle = stream as usize;
    let ends = |_| std::thread::spawn(move || end(handle as sys::CUstream).0).join().expect("no panic");
    during(stream, LOCAL, &ends, [CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CUDA_ERROR_ILLEGAL_STATE]);
}

/// A graph that is made node by node.
struct Made(sys::CUgraph);

impl Made {
    fn new() -> Self {
        Self(made!(cuGraphCreate(0)))
    }

    fn kernel(&self, address: u64, after: &[sys::CUgraphNode]) -> sys::CUgraphNode {
        let mut pointers = [(&raw const address).cast_mut().cast::<c_void>()];
        let params = increments(&mut pointers);
        made!(cuGraphAddKernelNode_v2(self.0, after.as_ptr(), after.len(), &params))
    }

    fn fill(&self, address: u64, value: u32, after: &[sys::CUgraphNode]) -> sys::CUgraphNode {
        let params = fills(address, value);
        made!(cuGraphAddMemsetNode(self.0, after.as_ptr(), after.len(), &params, null_mut()))
    }
}

fn increments(pointers: &mut [*mut c_void]) -> sys::CUDA_KERNEL_NODE_PARAMS_v2 {
    // SAFETY: a structure of numbers and pointers.
    let mut params: sys::CUDA_KERNEL_NODE_PARAMS_v2 = unsafe { zeroed() };
    params.func = function(module(), "increment");
    (params.gridDimX, params.gridDimY, params.gridDimZ) = (1, 1, 1);
    (params.blockDimX, params.blockDimY, params.blockDimZ) = (1, 1, 1);
    params.kernelParams = pointers.as_mut_ptr();
    params
}

fn fills(address: u64, value: u32) -> sys::CUDA_MEMSET_NODE_PARAMS {
    sys::CUDA_MEMSET_NODE_PARAMS { dst: address, pitch: 0, value, elementSize: 4, width: 1, height: 1 }
}

#[test]
fn nodes_run_in_the_order_of_their_edges() {
    let _own = OwnContext::new();
    let (a, b) = (zeros(4), zeros(4));
    let made = Made::new();
    // Made in the opposite order.
    let last = made.kernel(a, &[]);
    let first = made.fill(a, 41, &[]);
    calls! {
        sys::cuGraphAddDependencies(made.0, &first, &last, 1),
        sys::cuGraphAddDependencies(made.0, &first, &last, 1) => CUDA_ERROR_INVALID_VALUE,
    }
    run(instantiate(made.0));
    assert_eq!(words(a, 1), [42]);
    // A graph in a node is a copy: what its original becomes does not matter.
    let outer = Made::new();
    let child = made!(cuGraphAddChildGraphNode(outer.0, null(), 0, made.0));
    calls! {
        sys::cuGraphDestroy(made.0),
        sys::cuGraphGetNodes(made.0, null_mut(), &mut 0) => CUDA_ERROR_INVALID_VALUE,
    }
    let mut copy = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
    let place = copy.as_mut_ptr();
    let device = sys::CUmemorytype::CU_MEMORYTYPE_DEVICE;
    // SAFETY: a structure of numbers and pointers, of which the memory types alone may not be 0.
    unsafe {
        ((*place).srcMemoryType, (*place).srcDevice) = (device, a);
        ((*place).dstMemoryType, (*place).dstDevice) = (device, b);
        ((*place).WidthInBytes, (*place).Height, (*place).Depth) = (4, 1, 1);
    }
    let node = made!(cuGraphAddMemcpyNode(outer.0, &child, 1, place, null_mut()));
    let (mut from, mut to, mut n) = (null_mut(), null_mut(), 1);
    calls! { sys::cuGraphGetEdges(outer.0, &mut from, &mut to, &mut n) }
    assert_eq!((from, to, n), (child, node, 1));
    let exec = instantiate(outer.0);
    calls! { sys::cuMemsetD32_v2(a, 5, 1) }
    run(exec);
    assert_eq!((words(a, 1)[0], words(b, 1)[0]), (42, 42));
    calls! {
        sys::cuGraphAddDependencies(outer.0, &node, &child, 1),
        // A circle.
        sys::cuGraphInstantiateWithFlags(&mut null_mut(), outer.0, 0) => CUDA_ERROR_INVALID_VALUE,
        // What was instantiated stays as it was.
        sys::cuGraphDestroy(outer.0),
    }
    run(exec);
    calls! {
        sys::cuGraphExecDestroy(exec),
        sys::cuGraphLaunch(exec, null_mut()) => CUDA_ERROR_INVALID_VALUE,
    }
}

#[test]
fn instantiated_graphs_change_with_their_nodes_and_as_a_whole() {
    let _own = OwnContext::new();
    let (a, b) = (zeros(4), zeros(4));
    let made = Made::new();
    let first = made.fill(a, 1, &[]);
    let second = made.kernel(a, &[first]);
    let exec = instantiate(made.0);
    let mut address = b;
    let mut pointers = [(&raw mut address).cast::<c_void>()];
    let other = increments(&mut pointers);
    calls! {
        sys::cuGraphExecKernelNodeSetParams_v2(exec, second, &other),
        sys::cuGraphExecMemsetNodeSetParams(exec, first, &fills(a, 7), null_mut()),
        sys::cuGraphExecKernelNodeSetParams_v2(exec, first, &other) => CUDA_ERROR_INVALID_VALUE,
    }
    run(exec);
    assert_eq!((words(a, 1)[0], words(b, 1)[0]), (7, 1));
    // SAFETY: structures of numbers and pointers.
    let (mut params, mut info): (sys::CUDA_KERNEL_NODE_PARAMS_v2, sys::CUgraphExecUpdateResultInfo) =
        unsafe { (zeroed(), zeroed()) };
    calls! { sys::cuGraphKernelNodeGetParams_v2(second, &mut params) }
    // The graph has its own parameters still; in a node they are copies.
    // SAFETY: the kernel has one argument, of 8 bytes.
    assert_eq!(unsafe { (*params.kernelParams).cast::<u64>().read() }, a);
    calls! { sys::cuGraphExecUpdate_v2(exec, made.0, &mut info) }
    run(exec);
    assert_eq!((words(a, 1)[0], words(b, 1)[0]), (2, 1));
    let clone = made!(cuGraphClone(made.0));
    let copy = made!(cuGraphNodeFindInClone(second, clone));
    assert_ne!(copy, second);
    calls! {
        sys::cuGraphDestroyNode(copy),
        sys::cuGraphExecUpdate_v2(exec, clone, &mut info) => CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    }
    assert_eq!(info.result, sys::CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

/// Adds 1 to an `AtomicU32`.
extern "C" fn count(place: *mut c_void) {
    // SAFETY: the tests pass the address of a counter that outlives the graph.
    unsafe { &*place.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn host_functions_and_events_of_a_graph() {
    let _own = OwnContext::new();
    let made = Made::new();
    let (start, stop) = (event(), event());
    let slow = zeros(4);
    let called = AtomicU32::new(0);
    let call = sys::CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: called.as_ptr().cast() };
    let first = made!(cuGraphAddEventRecordNode(made.0, null(), 0, start));
    let kernel = made.kernel(slow, &[first]);
    let host = made!(cuGraphAddHostNode(made.0, &kernel, 1, &call));
    let _last: sys::CUgraphNode = made!(cuGraphAddEventRecordNode(made.0, &host, 1, stop));
    let exec = instantiate(made.0);
    run(exec);
    run(exec);
    let ms: f32 = made!(cuEventElapsedTime(start, stop));
    assert!(ms >= 0.0, "{ms} ms");
    assert_eq!(called.into_inner(), 2);
}

#[test]
fn an_object_lives_as_long_as_what_its_graph_becomes() {
    let _own = OwnContext::new();
    let made = Made::new();
    let gone = AtomicU32::new(0);
    let object = made!(cuUserObjectCreate(gone.as_ptr().cast(), Some(count), 1, 1));
    calls! {
        sys::cuGraphRetainUserObject(made.0, object, 1, 1),
        sys::cuUserObjectRelease(object, 1) => CUDA_ERROR_INVALID_VALUE,
    }
    let exec = instantiate(made.0);
    calls! { sys::cuGraphDestroy(made.0) }
    assert_eq!(gone.load(Ordering::SeqCst), 0);
    calls! { sys::cuGraphExecDestroy(exec) }
    assert_eq!(gone.into_inner(), 1);
}

#[test]
fn a_captured_allocation_lives_as_long_as_its_graph() {
    let _own = OwnContext::new();
    let (stream, out) = (stream(1), zeros(4));
    // Loading a module during a capture invalidates it.
    let kernel = function(module(), "increment");
    for frees in [true, false] {
        begin(stream, LOCAL);
        let address = made!(cuMemAllocAsync(64, stream));
        calls! {
            sys::cuMemsetD32Async(address, 4, 16, stream),
            increment(kernel, address, stream),
            sys::cuMemcpyDtoDAsync_v2(out, address, 4, stream),
        }
        if frees {
            calls! { sys::cuMemFreeAsync(address, stream) }
        }
        let (code, graph) = end(stream);
        ok(code);
        let exec = instantiate(graph);
        run(exec);
        assert_eq!(words(out, 1), [5]);
        if !frees {
            // Memory that is still there cannot be allocated again.
            calls! {
                sys::cuGraphLaunch(exec, stream) => CUDA_ERROR_INVALID_VALUE,
                sys::cuMemFreeAsync(address, stream),
            }
        }
        calls! { sys::cuGraphLaunch(exec, stream), synchronize() }
    }
}

#[test]
fn emulated_a_mistake_in_a_graph_names_its_kernel() {
    let emulator = emulator();
    let _own = OwnContext::new();
    let made = Made::new();
    let far = alloc(4) + 4096;
    let first = made.kernel(far, &[]);
    made.fill(far - 4096, 1, &[first]);
    let exec = instantiate(made.0);
    calls! { sys::cuGraphLaunch(exec, null_mut()) }
    assert_eq!(synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    let report = report(&emulator);
    assert_eq!(report["kernel"], "increment");
    assert_eq!(report["findings"][0]["code"], "E-OOB");
}
