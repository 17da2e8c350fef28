//! NVIDIA's library of collective operations, for two devices of this process.

use cudarc::driver::sys::CUstream;
use cudarc::nccl::result::{self, NcclError};
use cudarc::nccl::sys;

use harness::StepError;

use crate::process::Device;

const FLOAT: sys::ncclDataType_t = sys::ncclDataType_t::ncclFloat32;

pub struct Nccl {
    communicators: [sys::ncclComm_t; 2],
}

/// Succeeds when cudarc finds the library.
pub fn find() -> Result<(), StepError> {
    // SAFETY: loading the library runs its initialisers, as its first use would.
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    let mut why = "needs NCCL, as libnccl.so on the library path".to_owned();
    // SAFETY: the same.
    if unsafe { libloading::Library::new("libnccl.so.2") }.is_ok() {
        why += ": there is libnccl.so.2, without a link of the shorter name";
    }
    Err(StepError::CouldNot(why))
}

impl Nccl {
    /// Communicators of two different devices. The library must be there: see [`find`].
    pub fn new(devices: [&Device; 2]) -> Result<Self, StepError> {
        let mut communicators = [std::ptr::null_mut(); 2];
        let ordinals = devices.map(|device| device.context.cu_device());
        // SAFETY: there is a place and a number for each of two devices.
        unsafe { result::comm_init_all(communicators.as_mut_ptr(), 2, ordinals.as_ptr()) }
            .map_err(could_not)?;
        Ok(Self { communicators })
    }

    pub fn version() -> Result<String, StepError> {
        let number = result::get_nccl_version().map_err(could_not)?;
        Ok(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
    }

    /// Gathers twice `count` elements on each device, which has the first or second half and gets the other.
    ///
    /// # Safety
    /// The elements stay alive, and nothing else accesses them, until both streams are synchronised.
    pub unsafe fn gather(
        &self,
        places: [u64; 2],
        count: usize,
        streams: [CUstream; 2],
    ) -> Result<(), StepError> {
        let bytes = (count * size_of::<f32>()) as u64;
        self.together(|rank, communicator| {
            let (place, stream) = (places[rank], streams[rank].cast());
            let own = (place + rank as u64 * bytes) as *const _;
            // SAFETY: the caller promises that the places have twice `count` elements for as long as they are used.
            unsafe { result::all_gather(own, place as *mut _, count, FLOAT, communicator, stream) }
        })
    }

    /// Broadcasts `count` elements from the first device to the second.
    ///
    /// # Safety
    /// The elements stay alive, and nothing else accesses them, until both streams are synchronised.
    pub unsafe fn broadcast(
        &self,
        places: [u64; 2],
        count: usize,
        streams: [CUstream; 2],
    ) -> Result<(), StepError> {
        self.together(|rank, communicator| {
            let (from, to, stream) = (places[rank] as *const _, places[rank] as *mut _, streams[rank].cast());
            // SAFETY: the caller promises that the places have `count` elements for as long as they are used.
            unsafe { result::broadcast(from, to, count, FLOAT, 0, communicator, stream) }
        })
    }

    /// Groups one call for each device into one operation.
    fn together(
        &self,
        call: impl Fn(usize, sys::ncclComm_t) -> Result<result::NcclStatus, NcclError>,
    ) -> Result<(), StepError> {
        result::group_start().map_err(could_not)?;
        let calls = [0, 1].map(|rank| call(rank, self.communicators[rank]));
        // Also after an error: a group that stays open would take in what follows.
        let end = result::group_end();
        calls.into_iter().chain([end]).try_for_each(|done| done.map(drop).map_err(could_not))
    }
}

fn could_not(error: NcclError) -> StepError {
    StepError::CouldNot(format!("NCCL: {:?}", error.0))
}

impl Drop for Nccl {
    fn drop(&mut self) {
        for communicator in self.communicators {
            // SAFETY: `new` made it, and no call uses it any more. `drop` cannot return the error.
            let _ = unsafe { result::comm_destroy(communicator) };
        }
    }
}
