//! Libraries: modules that belong to no context and are loaded into each one where they are first used.

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Mutex};

use simt::memory::Memory;

use crate::api::module::{FUNCTIONS, Function, MODULES, enter, function_named, unload_after_work, variable};
use crate::api::{query, ready_for};
use crate::contexts::{MEMORY, usable};
use crate::ffi::{In, Out, Text, export, later};
use crate::handle::{ObjectKind, Table};
use crate::host_mistakes;
use crate::image::{Image, Log, Refused};
use crate::lifecycle::initialised;
use crate::result::*;
use crate::{sync::lock, types::Handle};

struct Library {
    image: Image,
    max_registers: Option<u32>,
    /// Modules by the id of their context.
    modules: Mutex<BTreeMap<u64, Handle>>,
    kernels: Mutex<Vec<(String, Handle)>>,
}

struct LibraryKernel {
    library: Handle,
    name: String,
}

static LIBRARIES: Table<Library> = Table::new(ObjectKind::Library);
static KERNELS: Table<LibraryKernel> = Table::new(ObjectKind::Kernel);

pub(crate) fn forget_context(id: u64) {
    for handle in LIBRARIES.handles_where(|_| true) {
        if let Some(library) = LIBRARIES.get(handle) {
            lock(&library.modules).remove(&id);
        }
    }
}

fn module_of(library: &Library) -> Outcome<Handle> {
    let context = usable()?;
    let mut modules = lock(&library.modules);
    if let Some(module) = modules.get(&context.id) {
        return Ok(*module);
    }
    let module = library.image.load(&MEMORY).map_err(|(code, _)| code)?;
    let handle = enter(&context, module, &library.image, library.max_registers);
    modules.insert(context.id, handle);
    Ok(handle)
}

/// Returns the function of a library's kernel in the current context.
pub(crate) fn function_handle(kernel: Handle) -> Outcome<Handle> {
    let kernel = KERNELS.find(kernel)?;
    let module = module_of(&*LIBRARIES.find(kernel.library)?)?;
    let loaded = MODULES.find(module)?;
    function_named(&loaded, &kernel.name).ok_or(ERROR_NOT_FOUND)
}

/// Looks a function up; a library's kernel stands for its function in the current context.
pub(crate) fn function_of(handle: Handle) -> Outcome<Arc<Function>> {
    initialised()?;
    if let Some(function) = FUNCTIONS.get(handle) {
        return Ok(function);
    }
    FUNCTIONS.find(function_handle(handle)?)
}

fn load(out: Out<Handle>, image: Result<Image, Refused>, log: &Log) -> Outcome {
    // Loaded once to find errors; variables get their addresses per context.
    let checked = image.and_then(|image| {
        let module = image.load(&Arc::new(Memory::new(MEMORY.limit())))?;
        let names = module.kernels().iter().map(|k| k.kernel().name.clone()).collect::<Vec<_>>();
        Ok((image, names))
    });
    let (image, names) = checked.or_else(|why| log.refuse(why))?;
    let (handle, library) = LIBRARIES.insert_with(|_| Library {
        image,
        max_registers: log.max_registers,
        modules: Mutex::default(),
        kernels: Mutex::default(),
    });
    let kernels = names.into_iter().map(|name| {
        let kernel = LibraryKernel { library: handle, name: name.clone() };
        (name, KERNELS.insert_with(|_| kernel).0)
    });
    *lock(&library.kernels) = kernels.collect();
    out.put(handle)
}

export! {
    fn cuLibraryLoadData 12000(
        out: Out<Handle>, image: In<u8>, options: In<c_uint>, values: Out<usize>, n: c_uint,
        _library_options: In<c_uint>, _library_values: In<usize>, _n_library: c_uint,
    ) {
        ready_for(out)?;
        // SAFETY: the caller promises as many options and values.
        let log = unsafe { Log::new(n, options, values) }?;
        // SAFETY: the caller promises an image.
        load(out, unsafe { Image::read(image) }, &log)
    }

    fn cuLibraryLoadFromFile 12000(
        out: Out<Handle>, path: Text, options: In<c_uint>, values: Out<usize>, n: c_uint,
        _library_options: In<c_uint>, _library_values: In<usize>, _n_library: c_uint,
    ) {
        ready_for(out)?;
        // SAFETY: the caller promises as many options and values.
        let log = unsafe { Log::new(n, options, values) }?;
        let path = path.get()?;
        load(out, Image::read_file(&path), &log)
    }

    fn cuLibraryUnload 12000(handle: Handle) {
        let gone = LIBRARIES.destroy(handle)?;
        for (_, kernel) in lock(&gone.kernels).drain(..) {
            KERNELS.remove(kernel);
        }
        let modules = std::mem::take(&mut *lock(&gone.modules));
        modules.into_values().try_for_each(unload_after_work)
    }

    fn cuLibraryGetKernel 12000(out: Out<Handle>, handle: Handle, name: Text) {
        ready_for(out)?;
        let name = name.get()?;
        let library = LIBRARIES.find(handle)?;
        let kernels = lock(&library.kernels);
        let found = kernels.iter().find(|k| k.0 == name);
        out.put(found.ok_or_else(|| host_mistakes::kernel_name(&name, kernels.iter().map(|k| k.0.as_str())))?.1)
    }

    fn cuLibraryGetKernelCount 12040(count: Out<c_uint>, handle: Handle) =
        query(count, || Ok(lock(&LIBRARIES.find(handle)?.kernels).len() as c_uint));

    fn cuLibraryEnumerateKernels 12040(kernels: Out<Handle>, n: c_uint, handle: Handle) {
        ready_for(kernels)?;
        let library = LIBRARIES.find(handle)?;
        let all = lock(&library.kernels);
        // SAFETY: the caller promises `n` places.
        all.iter().take(n as usize).enumerate().try_for_each(|(i, k)| unsafe { kernels.put_at(i, k.1) })
    }

    fn cuLibraryGetModule 12000(out: Out<Handle>, handle: Handle) = query(out, || module_of(&*LIBRARIES.find(handle)?));

    fn cuLibraryGetGlobal 12000(address: Out<u64>, bytes: Out<usize>, handle: Handle, name: Text) {
        initialised()?;
        let name = name.get()?;
        let module = module_of(&*LIBRARIES.find(handle)?)?;
        variable(&*MODULES.find(module)?, &name, address, bytes)
    }

    fn cuLibraryGetManaged 12000(_address: Out<u64>, _bytes: Out<usize>, handle: Handle, name: Text) {
        LIBRARIES.find(handle)?;
        name.get()?;
        Err(ERROR_NOT_FOUND)
    }

    fn cuLibraryGetUnifiedFunction 12000(_out: Out<*mut c_void>, handle: Handle, name: Text) {
        LIBRARIES.find(handle)?;
        name.get()?;
        Err(ERROR_NOT_FOUND)
    }
}

later! {
    fn cuKernelGetLibrary 12050(out: Out<Handle>, handle: Handle) =
        query(out, || Ok(KERNELS.find(handle)?.library));
}
