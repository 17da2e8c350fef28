//! Modules: PTX or machine code in, kernels and variables out.

use std::collections::BTreeMap;
use std::ffi::{CString, c_uint, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use program::OpKind;
use simt::module::{LoadedKernel, Module};

use crate::api::{query, ready_for};
use crate::attributes::limit;
use crate::contexts::{CONTEXTS, Context, MEMORY, usable};
use crate::ffi::{In, Out, Text, export};
use crate::handle::{ObjectKind, Table};
use crate::host_mistakes;
use crate::image::{Image, Log, Refused, architecture, registers};
use crate::result::*;
use crate::{settings, types::Handle};

pub(crate) struct Loaded {
    context_id: u64,
    context: Handle,
    pub(crate) module: Module,
    /// Functions of the kernels, in the order of the text.
    pub(crate) functions: OnceLock<Vec<Handle>>,
}

pub(crate) struct Function {
    pub(crate) module: Handle,
    pub(crate) context_id: u64,
    pub(crate) loaded: Arc<LoadedKernel>,
    pub(crate) name: CString,
    pub(crate) info: KernelInfo,
    /// Module of machine code that the kernel was loaded from, and its index there.
    code: Option<(Arc<sass::Module>, usize)>,
    pub(crate) sources: Arc<[(String, Arc<str>)]>,
    pub(crate) has_textures: bool,
    /// Constant variables without a value that the kernel names: name and address.
    pub(crate) unset_constants: Vec<(String, u64)>,
    pub(crate) max_dynamic_shared: AtomicI32,
    pub(crate) carveout: AtomicI32,
    /// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_*` in x, y and z, as the program set them; 0 if it did not.
    pub(crate) cluster: [AtomicI32; 3],
    pub(crate) nonportable_cluster: AtomicI32,
    pub(crate) cluster_policy: AtomicI32,
    /// State for launches by `cuLaunchGrid`.
    pub(crate) prepared: Mutex<Prepared>,
}

impl Function {
    /// Returns the blocks of a cluster, as the program set them by attributes.
    pub(crate) fn set_cluster(&self) -> Option<[c_uint; 3]> {
        let set = [0, 1, 2].map(|i| self.cluster[i].load(Ordering::Relaxed).max(0) as c_uint);
        (set != [0; 3]).then(|| set.map(|n| n.max(1)))
    }

    pub(crate) fn machine_code(&self) -> Option<&sass::CubinKernel> {
        let (module, at) = self.code.as_ref()?;
        module.kernels.get(*at)
    }
}

/// State that `cuFuncSet*` and `cuParamSet*` set for the next launches.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) block: Option<[c_uint; 3]>,
    pub(crate) dynamic_shared: c_uint,
    /// Bytes of arguments that the program announced; `None` means as many as the kernel takes.
    pub(crate) size: Option<usize>,
    pub(crate) arguments: Vec<u8>,
}

/// Properties of a kernel that the image records besides its code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KernelInfo {
    /// Registers that ptxas assigned for this architecture: from the cubin, or from the comments of the PTX.
    pub(crate) registers: Option<u32>,
    /// Limit that the program set: `CU_JIT_MAX_REGISTERS`.
    pub(crate) max_registers: Option<u32>,
    /// `.target sm_75` is 75; for machine code, its architecture.
    pub(crate) target: u32,
    pub(crate) constant_bytes: u32,
}

pub(crate) static MODULES: Table<Loaded> = Table::new(ObjectKind::Module);
pub(crate) static FUNCTIONS: Table<Function> = Table::new(ObjectKind::Function);

pub(crate) fn forget_context(id: u64) {
    for handle in MODULES.handles_where(|m| m.context_id == id) {
        unload(handle);
    }
}

fn unload(handle: Handle) -> Option<Arc<Loaded>> {
    let gone = MODULES.remove(handle)?;
    for function in gone.functions.get().into_iter().flatten() {
        FUNCTIONS.remove(*function);
    }
    Some(gone)
}

/// Waits for work that may still use a module, and unloads it.
pub(crate) fn unload_after_work(handle: Handle) -> Outcome {
    let loaded = MODULES.find(handle)?;
    if let Some(context) = CONTEXTS.get(loaded.context) {
        context.queue.drain()?;
        context.flush_printed();
    }
    unload(handle).map(|_| ()).ok_or(ERROR_INVALID_HANDLE)
}

/// Adds a module that was loaded from an image to a context.
pub(crate) fn enter(context: &Context, module: Module, image: &Image, max_registers: Option<u32>) -> Handle {
    let constant_bytes = module.variables().iter().filter(|v| v.constant).map(|v| v.bytes).sum::<u64>();
    let kernels = module.kernels().to_vec();
    let files = kernels.iter().take(1).flat_map(|kernel| kernel.files());
    let paths = files.map(|(_, path)| path.as_str());
    let ptx = if let Image::Text(text) = image { text } else { "" };
    let sources: Arc<[(String, Arc<str>)]> = settings::find_sources(ptx, paths).into();
    let (registers, target, max_registers) = match image {
        Image::Text(text) => (registers(text), architecture(text).unwrap_or(0), max_registers),
        // The compiler has already assigned the registers.
        Image::Cubin(code) => {
            let registers = code.kernels.iter().map(|k| (k.name.as_str(), k.registers));
            (registers.collect(), code.architecture, None)
        }
    };
    let unset: BTreeMap<&str, u64> = module
        .variables()
        .iter()
        .filter(|v| v.constant && !MEMORY.host_wrote(v.address))
        .map(|v| (v.name.as_str(), v.address))
        .collect();
    let unset: Vec<Vec<(String, u64)>> = kernels.iter().map(|k| named(k.kernel(), &unset)).collect();
    let (handle, loaded) = MODULES.insert_with(|_| Loaded {
        context_id: context.id,
        context: context.handle,
        module,
        functions: OnceLock::new(),
    });
    let make = |(kernel, unset_constants): (&Arc<LoadedKernel>, _)| {
        let name = kernel.kernel().name.as_str();
        let code = match image {
            Image::Text(_) => None,
            Image::Cubin(code) => {
                let at = code.kernels.iter().position(|k| k.name == name);
                at.map(|at| (Arc::clone(code), at))
            }
        };
        let function = Function {
            code,
            module: handle,
            context_id: context.id,
            loaded: Arc::clone(kernel),
            name: CString::new(name).unwrap_or_default(),
            info: KernelInfo {
                registers: registers.get(name).copied(),
                max_registers,
                target,
                constant_bytes: u32::try_from(constant_bytes).unwrap_or(u32::MAX),
            },
            sources: Arc::clone(&sources),
            has_textures: kernel.kernel().ops.iter().any(|op| matches!(op.kind, OpKind::Texture(_))),
            unset_constants,
            max_dynamic_shared: AtomicI32::new(
                limit::SHARED_PER_BLOCK.saturating_sub(kernel.kernel().shared_static_bytes) as i32,
            ),
            carveout: AtomicI32::new(-1),
            cluster: Default::default(),
            nonportable_cluster: AtomicI32::new(0),
            cluster_policy: AtomicI32::new(0),
            prepared: Mutex::default(),
        };
        FUNCTIONS.insert_with(|_| function).0
    };
    let functions = kernels.iter().zip(unset).map(make).collect();
    // Just made, so empty.
    let _ = loaded.functions.set(functions);
    handle
}

/// Selects the variables that an instruction of a kernel names.
fn named(kernel: &program::DecodedKernel, variables: &BTreeMap<&str, u64>) -> Vec<(String, u64)> {
    let mut found = BTreeMap::new();
    if variables.is_empty() {
        return Vec::new();
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_$.%".contains(c);
    for instr in &kernel.instrs {
        for word in instr.text.split(|c| !is_part(c)) {
            if let Some(address) = variables.get(word) {
                found.insert(word, *address);
            }
        }
    }
    found.into_iter().map(|(name, address)| (name.to_owned(), address)).collect()
}

/// Loads into the current context; errors go to the log, or without one, to standard error.
fn load(out: Out<Handle>, image: Result<Image, Refused>, log: &Log) -> Outcome {
    let context = usable()?;
    let loaded = image.and_then(|image| image.load(&MEMORY).map(|module| (module, image)));
    let (module, image) = loaded.or_else(|why| log.refuse(why))?;
    log.finish("")?;
    out.put(enter(&context, module, &image, log.max_registers))
}

export! {
    fn cuModuleLoad 2000(out: Out<Handle>, path: Text) {
        ready_for(out)?;
        let path = path.get()?;
        usable()?;
        load(out, Image::read_file(&path), &Log::default())
    }

    fn cuModuleLoadData 2000 | cuModuleLoadFatBinary 2000(out: Out<Handle>, image: In<u8>) {
        ready_for(out)?;
        usable()?;
        // SAFETY: the caller promises an image.
        load(out, unsafe { Image::read(image) }, &Log::default())
    }

    fn cuModuleLoadDataEx 2010(out: Out<Handle>, image: In<u8>, n: c_uint, options: In<c_uint>, values: Out<usize>) {
        ready_for(out)?;
        usable()?;
        // SAFETY: the caller promises as many options and values.
        let log = unsafe { Log::new(n, options, values) }?;
        // SAFETY: the caller promises an image.
        load(out, unsafe { Image::read(image) }, &log)
    }

    fn cuModuleUnload 2000(handle: Handle) {
        usable()?;
        unload_after_work(handle)
    }

    // CU_MODULE_EAGER_LOADING
    fn cuModuleGetLoadingMode 11070(mode: Out<c_uint>) = query(mode, || Ok(1));

    fn cuModuleGetFunction 2000(out: Out<Handle>, handle: Handle, name: Text) {
        usable()?;
        out.check()?;
        let name = name.get()?;
        refuse_if(name.is_empty(), ERROR_INVALID_VALUE)?;
        let loaded = MODULES.find(handle)?;
        let names = loaded.module.kernels().iter().map(|k| k.kernel().name.as_str());
        out.put(function_named(&loaded, &name).ok_or_else(|| host_mistakes::kernel_name(&name, names))?)
    }

    fn cuModuleGetFunctionCount 12040(count: Out<c_uint>, handle: Handle) =
        query(count, || Ok(MODULES.find(handle)?.module.kernels().len() as c_uint));

    fn cuModuleEnumerateFunctions 12040(functions: Out<Handle>, n: c_uint, handle: Handle) {
        ready_for(functions)?;
        let loaded = MODULES.find(handle)?;
        let all = loaded.functions.get().into_iter().flatten();
        // SAFETY: the caller promises `n` places.
        all.take(n as usize).enumerate().try_for_each(|(i, f)| unsafe { functions.put_at(i, *f) })
    }

    fn cuModuleGetGlobal_v2 3020(address: Out<u64>, bytes: Out<usize>, handle: Handle, name: Text) {
        usable()?;
        let name = name.get()?;
        let loaded = MODULES.find(handle)?;
        variable(&loaded, &name, address, bytes)
    }

    fn cuModuleGetTexRef 2000 | cuModuleGetSurfRef 3000(_out: Out<c_void>, handle: Handle, _name: Text) {
        MODULES.find(handle)?;
        Err(ERROR_NOT_FOUND)
    }
}

pub(crate) fn function_named(loaded: &Loaded, name: &str) -> Option<Handle> {
    let at = loaded.module.kernels().iter().position(|k| k.kernel().name == name)?;
    loaded.functions.get()?.get(at).copied()
}

pub(crate) fn variable(loaded: &Loaded, name: &str, address: Out<u64>, bytes: Out<usize>) -> Outcome {
    let found = loaded.module.variable(name).ok_or(ERROR_NOT_FOUND)?;
    address.put_if_wanted(found.address);
    bytes.put_if_wanted(found.bytes as usize);
    Ok(())
}
