//! Random calls with random arguments: nothing crashes, hangs or panics, and all codes are known.

use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut};

use cudarc::driver::sys::{self, CUresult};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};

use crate::common::{KERNELS, OwnContext, emulator, function, launch_kernel, module};

/// Results of calls, valid or not any more, and values that never were valid.
struct Pool {
    random: ChaCha8Rng,
    values: Vec<u64>,
}

impl Pool {
    fn any(&mut self) -> u64 {
        match self.random.random_range(0..8) {
            0 => [0, 1, 2, 3, u64::MAX, 1 << 63, 0x7fff_0000_0000, 1 << 48][self.random.random_range(0..8)],
            1 => self.random.random(),
            2 => {
                let value = self.values[self.random.random_range(0..self.values.len())];
                value.wrapping_add(self.random.random_range(0..64))
            }
            _ => self.values[self.random.random_range(0..self.values.len())],
        }
    }

    fn handle<T>(&mut self) -> *mut T {
        without_provenance_mut(self.any() as usize)
    }

    fn size(&mut self) -> usize {
        match self.random.random_range(0..6) {
            0 => self.any() as usize,
            1 => 0,
            _ => self.random.random_range(0..300),
        }
    }

    fn keep(&mut self, value: u64) {
        let n = self.values.len();
        if n < 64 { self.values.push(value) } else { self.values[self.random.random_range(0..n)] = value }
    }
}

/// Makes a call with valid host memory; all other arguments come from the pool.
fn call(pool: &mut Pool, own: &OwnContext, host: &mut [u64; 64]) -> CUresult {
    let mut out = 0u64;
    let place = (&raw mut out).cast::<c_void>();
    let buffer = host.as_mut_ptr().cast::<c_void>();
    let small = |n: usize| n.min(512);
    // SAFETY: places for results and host memory are good; the driver checks handles, addresses and sizes itself.
    let code = unsafe {
        match pool.random.random_range(0..58) {
            0 => sys::cuMemAlloc_v2(place.cast(), pool.size()),
            1 => sys::cuMemFree_v2(pool.any()),
            2 => sys::cuMemcpyHtoD_v2(pool.any(), buffer, small(pool.size())),
            3 => sys::cuMemcpyDtoH_v2(buffer, pool.any(), small(pool.size())),
            4 => sys::cuMemcpyDtoD_v2(pool.any(), pool.any(), pool.size()),
            5 => sys::cuMemsetD8_v2(pool.any(), 3, pool.size()),
            6 => sys::cuMemsetD32_v2(pool.any(), 3, pool.size()),
            7 => sys::cuMemsetD2D16_v2(pool.any(), pool.size(), 3, pool.size(), pool.size()),
            8 => sys::cuStreamCreate(place.cast(), pool.size() as u32 % 3),
            9 => sys::cuStreamDestroy_v2(pool.handle()),
            10 => sys::cuStreamSynchronize(pool.handle()),
            11 => sys::cuStreamQuery(pool.handle()),
            12 => sys::cuStreamWaitEvent(pool.handle(), pool.handle(), 0),
            13 => sys::cuEventCreate(place.cast(), pool.size() as u32 % 4),
            14 => sys::cuEventDestroy_v2(pool.handle()),
            15 => sys::cuEventRecord(pool.handle(), pool.handle()),
            16 => sys::cuEventQuery(pool.handle()),
            17 => sys::cuEventElapsedTime(place.cast(), pool.handle(), pool.handle()),
            18 => sys::cuModuleLoadData(place.cast(), c".version 7.0 .target sm_75 .address_size 64".as_ptr().cast()),
            19 => sys::cuModuleUnload(pool.handle()),
            20 => sys::cuModuleGetFunction(place.cast(), pool.handle(), c"nothing".as_ptr()),
            21 => sys::cuFuncSetAttribute(
                pool.handle(),
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                pool.size() as i32,
            ),
            22..=25 => {
                let mut arguments = [pool.any(), pool.any(), pool.any()];
                let [a, b, c] = &mut arguments;
                let mut pointers = [(&raw mut *a).cast::<c_void>(), (&raw mut *b).cast(), (&raw mut *c).cast()];
                let (grid, block) = (pool.random.random_range(0..4_u32), pool.random.random_range(0..70_u32));
                let dynamic = pool.size() as u32;
                let stream = if pool.random.random_range(0..4) == 0 { pool.handle() } else { null_mut() };
                let (function, pointers) = (pool.handle(), pointers.as_mut_ptr());
                launch_kernel(function, [grid, 1, 1], [block, 1, 1], dynamic, stream, pointers, null_mut())
            }
            26 => sys::cuCtxPushCurrent_v2(pool.handle()),
            27 => sys::cuCtxPopCurrent_v2(place.cast()),
            28 => sys::cuCtxSetCurrent(own.0),
            29 => sys::cuCtxSynchronize(),
            30 => sys::cuMemHostAlloc(place.cast(), pool.size(), 0),
            31 => sys::cuMemFreeHost(pool.handle()),
            32 => sys::cuMemAllocManaged(place.cast(), pool.size(), 1),
            33 => sys::cuMemAllocAsync(place.cast(), pool.size(), pool.handle()),
            34 => sys::cuMemFreeAsync(pool.any(), pool.handle()),
            35 => sys::cuMemPoolDestroy(pool.handle()),
            36 => sys::cuMemGetAddressRange_v2(place.cast(), host.as_mut_ptr().cast(), pool.any()),
            37 => {
                let attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
                sys::cuPointerGetAttribute(buffer, attribute, pool.any())
            }
            38 => {
                let description = sys::CUDA_ARRAY_DESCRIPTOR {
                    Width: pool.size(),
                    Height: pool.size(),
                    Format: sys::CUarray_format::CU_AD_FORMAT_FLOAT,
                    NumChannels: pool.size() as u32 % 5,
                };
                sys::cuArrayCreate_v2(place.cast(), &description)
            }
            39 => sys::cuArrayDestroy(pool.handle()),
            40 => sys::cuMemcpyHtoA_v2(pool.handle(), pool.size(), buffer, small(pool.size())),
            41 => sys::cuMemcpyAtoH_v2(buffer, pool.handle(), pool.size(), small(pool.size())),
            42 => sys::cuTexObjectDestroy(pool.any()),
            43 => sys::cuLibraryUnload(pool.handle()),
            44 => sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                place.cast(),
                pool.handle(),
                pool.size() as i32,
                pool.size(),
            ),
            45 => sys::cuStreamAddCallback(pool.handle(), None, null_mut(), 0),
            46 => sys::cuMemcpyDtoDAsync_v2(pool.any(), pool.any(), pool.size(), pool.handle()),
            47 => sys::cuMemsetD8Async(pool.any(), 1, pool.size(), pool.handle()),
            48 => sys::cuGraphCreate(place.cast(), 0),
            49 => sys::cuGraphDestroy(pool.handle()),
            50 => sys::cuGraphClone(place.cast(), pool.handle()),
            51 => sys::cuGraphInstantiateWithFlags(place.cast(), pool.handle(), 0),
            52 => sys::cuGraphLaunch(pool.handle(), pool.handle()),
            53 => sys::cuGraphAddEventRecordNode(place.cast(), pool.handle(), null(), 0, pool.handle()),
            54 => sys::cuGraphDestroyNode(pool.handle()),
            55 => sys::cuGraphAddDependencies(pool.handle(), &pool.handle(), &pool.handle(), 1),
            56 => sys::cuStreamBeginCapture_v2(pool.handle(), sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED),
            _ => sys::cuStreamEndCapture(pool.handle(), place.cast()),
        }
    };
    if code == CUresult::CUDA_SUCCESS && out != 0 {
        pool.keep(out);
    }
    code
}

#[test]
fn emulated_anything_goes() {
    let emulator = emulator();
    emulator.set_budget(Some(100_000));
    for seed in 1..40_u64 {
        let own = OwnContext::new();
        let module = module();
        let names = ["fill", "increment", "poke", "variables", "nothing", "forever", "shift", "sample"];
        let mut values: Vec<u64> = names.iter().map(|name| function(module, name) as u64).collect();
        values.extend([module as u64, own.0 as u64, KERNELS.len() as u64]);
        let mut pool = Pool { random: ChaCha8Rng::seed_from_u64(seed), values };
        let mut host = [0u64; 64];
        let mut n_good = 0;
        for _ in 0..400 {
            let code = call(&mut pool, &own, &mut host);
            n_good += u32::from(code == CUresult::CUDA_SUCCESS);
            assert_ne!(code, CUresult::CUDA_ERROR_UNKNOWN);
        }
        assert!(n_good > 0);
        // Pops the pushed contexts, so that the next round starts clean.
        // SAFETY: a place for the result.
        while unsafe { sys::cuCtxPopCurrent_v2(&mut null_mut()) } == CUresult::CUDA_SUCCESS {}
    }
}
