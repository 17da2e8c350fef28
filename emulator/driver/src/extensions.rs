//! Exports of the emulated driver beyond the driver API.
//!
//! Ten C functions, found with `dlsym` in the library that is loaded; a real driver has none of them. All return a
//! `CUresult`. The crate `emulator_client` wraps them for Rust.
//!
//! ```c
//! // "libnvcuda 0.1.0, emulated GPU". Never freed.
//! CUresult tile_version(const char **text);
//!
//! // Level of checks of the calling thread's launches: 0 none, 1 counters, 2 checks and counters,
//! // 3 also races on global memory; -1 the default of the process.
//! CUresult tile_set_checks(int level);
//!
//! // Thread-instructions after which a launch of the calling thread is stopped as runaway: 0 for no limit;
//! // UINT64_MAX the default of the process.
//! CUresult tile_set_budget(uint64_t thread_instructions);
//!
//! // CPU threads for launches of the calling thread: 0 for one per core; UINT32_MAX the default of the process.
//! CUresult tile_set_threads(uint32_t n);
//!
//! // 1: the calling thread's launches run blocks in parallel even where their order could change results;
//! // 0: in index order then; -1 the default of the process.
//! CUresult tile_set_unordered(int on);
//!
//! // 1: diagnostics of the calling thread's launches are printed on stderr; 0: they are in the report only;
//! // -1 the default of the process.
//! CUresult tile_set_diagnosis(int on);
//!
//! // Names of a kernel's parameters, for messages: from now on in the whole process; with `kernel` null, for the
//! // calling thread's next launch only.
//! CUresult tile_name_parameters(const char *kernel, const char *const *names, uint32_t n);
//!
//! // The text of a source file, under the path that the PTX gives it, for messages of the whole process.
//! CUresult tile_add_source(const char *path, const char *text);
//!
//! // The calling thread's next launch is predicted: it runs only the blocks that the model of a real GPU needs, so its
//! // results in memory are incomplete. Its report has, beside `kernel`, `grid`, `block`, `dynamic_shared` and `code`:
//! //   `occupancy`: of one multiprocessor: `blocks`, `warps`, `most_warps`, `registers` (of a thread), and `limit`, of
//! //     which there is not enough for one more block; null for PTX;
//! //   `prediction`: `gpu`, `us` (with warm caches), `band` (nine in ten predictions for other kernels of its kind were
//! //     wrong by less than this part), `bounds` (a list of `unit` and `us`: the least time by each unit alone, the slowest first),
//! //     `parts` (the same for parts of these units: issue without registers, shared memory, L1),
//! //     `ghz` (the clock), `n_blocks`, `n_sms`; or null, and then `no_prediction` has the reason.
//! CUresult tile_predict_next(void);
//!
//! // The report of the calling thread's last launch as JSON (the fields of `diagnostics::Report`): counters for the
//! // launch, per source line and per instruction, and the findings of the checks. Waits for the launch to end. `*length` is
//! // the size of `buffer` on entry and the size needed, with the NUL, on return; `buffer` may be null to ask for it.
//! // CUDA_ERROR_NOT_FOUND when there is none.
//! CUresult tile_report(char *buffer, size_t *length);
//! ```

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

use crate::ffi::{In, Out, Text, by_number, extension};
use crate::result::*;
use crate::{reports, settings};

/// Returns a setting with three values: -1 for the default, 0 for off, 1 for on.
fn switch(value: c_int) -> Outcome<Option<bool>> {
    match value {
        -1 => Ok(None),
        0 | 1 => Ok(Some(value == 1)),
        _ => Err(ERROR_INVALID_VALUE),
    }
}

extension! {
    fn tile_version(text: Out<*const c_char>) {
        const VERSION: &str = concat!("libnvcuda ", env!("CARGO_PKG_VERSION"), ", emulated GPU\0");
        text.put(VERSION.as_ptr().cast())
    }

    fn tile_set_checks(level: c_int) {
        let check_level = u32::try_from(level).ok().map(|level| by_number(&settings::CHECK_LEVELS, level)).transpose()?;
        settings::choose(|c| c.check_level = check_level);
        Ok(())
    }

    fn tile_set_budget(thread_instructions: u64) {
        settings::choose(|c| c.budget = Some(thread_instructions).filter(|n| *n != u64::MAX));
        Ok(())
    }

    fn tile_set_threads(n: c_uint) {
        settings::choose(|c| c.threads = Some(n as usize).filter(|_| n != u32::MAX));
        Ok(())
    }

    fn tile_set_unordered(on: c_int) {
        let on = switch(on)?;
        settings::choose(|c| c.unordered = on);
        Ok(())
    }

    fn tile_set_diagnosis(on: c_int) {
        let on = switch(on)?;
        settings::choose(|c| c.diagnosis = on);
        Ok(())
    }

    fn tile_name_parameters(kernel: Text, names: In<Text>, n: c_uint) {
        let kernel = if kernel.is_null() { None } else { Some(kernel.get()?) };
        // SAFETY: the caller promises `n` names.
        let names = unsafe { names.list(n as usize) }?.into_iter().map(Text::get).collect::<Result<_, _>>()?;
        settings::name_params(kernel, names);
        Ok(())
    }

    fn tile_add_source(path: Text, text: Text) {
        settings::add_source(path.get()?, Arc::from(text.get()?));
        Ok(())
    }

    fn tile_predict_next() {
        settings::choose(|c| c.predicts_next = true);
        Ok(())
    }

    fn tile_report(buffer: Out<c_char>, length: Out<usize>) {
        let room = length.get()?;
        let json = reports::last_as_json()?;
        length.put(json.len() + 1)?;
        if buffer.is_null() {
            return Ok(());
        }
        refuse_if(room <= json.len(), ERROR_INVALID_VALUE)?;
        // SAFETY: the caller promises a buffer of this length.
        unsafe { buffer.put_text(&json, room) }
    }
}
