//! NVIDIA's library of collective operations, for two devices of this process.

use cudarc::driver::sys::CUstream;
use cudarc::nccl::result::{self, NcclError};
use cudarc::nccl::sys;

use crate::process::{Device, Error};

const FLOAT: sys::ncclDataType_t = sys::ncclDataType_t::ncclFloat32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("needs NCCL, as libnccl.so on the library path{}", if *.other_name {
    ": there is libnccl.so.2, without a link of the shorter name"
} else {
    ""
})]
pub struct Missing {
    other_name: bool,
}

pub struct Nccl {
    communicators: [sys::ncclComm_t; 2],
}

/// Succeeds when cudarc finds the library.
pub fn find() -> Result<(), Missing> {
    // SAFETY: loading the library runs its initialisers, as its first use would.
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    // SAFETY: the same.
    let other_name = unsafe { libloading::Library::new("libnccl.so.2") }.is_ok();
    Err(Missing { other_name })
}

impl Nccl {
    /// Communicators of two different devices. The library must be there: see [`find`].
    pub fn new(devices: [&Device; 2]) -> Result<Self, Error> {
        let mut communicators = [std::ptr::null_mut(); 2];
        let ordinals = devices.map(|device| device.context.cu_device());
        // SAFETY: there is a place and a number for each of two devices.
        unsafe { result::comm_init_all(communicators.as_mut_ptr(), 2, ordinals.as_ptr()) }?;
        Ok(Self { communicators })
    }

    pub fn version() -> Result<String, Error> {
        let number = result::get_nccl_version()?;
        Ok(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
    }

    /// Gathers twice `count` elements on each device, which has the first or second half and gets the other.
    ///
    /// # Safety
    /// The elements stay alive, and nothing else accesses them, until both streams are synchronised.
    pub unsafe fn gather(&self, places: [u64; 2], count: usize, streams: [CUstream; 2]) -> Result<(), Error> {
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
    ) -> Result<(), Error> {
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
    ) -> Result<(), Error> {
        result::group_start()?;
        let calls = [0, 1].map(|rank| call(rank, self.communicators[rank]));
        // Also after an error: a group that stays open would take in what follows.
        let end = result::group_end();
        for done in calls {
            done?;
        }
        end?;
        Ok(())
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        for communicator in self.communicators {
            // SAFETY: `new` made it, and no call uses it any more. `drop` cannot return the error.
            let _ = unsafe { result::comm_destroy(communicator) };
        }
    }
}
