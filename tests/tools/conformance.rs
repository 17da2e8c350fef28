//! Runs every conformance fixture on whatever device is there and writes down what it answered.
//!
//! `cargo run --release -p tests --example conformance -- tests/data/conformance`
//!
//! On a real GPU this makes the files that the emulated one must reproduce. `--ptx FOLDER` writes the modules
//! instead, for a look or for an assembler. `--missing FOLDER` asks only for what FOLDER has no answer to, and adds
//! it there. The program runs its work in a child process and starts another
//! one behind a fixture that takes the context down, so that one bad kernel costs one answer.

#![expect(clippy::print_stdout, reason = "a program that talks to whoever runs it")]

#[path = "device/mod.rs"]
mod device;

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::{CStr, CString, c_void};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use cudarc::driver::sys;
use device::check;
use tests::conformance::{
    Answers, BLOB, BLOCK, Fixture, TEXTURES, TextureSource, answers_in, fixtures, missing, module, read_answers,
    write_answers,
};

/// Kernels per module: compiling many at once is quicker, and a module that fails is tried again one by one.
const PER_MODULE: usize = 20;
/// Fixtures per child; fewer after one that ended badly.
const CHUNK: usize = 800;
const PATIENCE: Duration = Duration::from_secs(90);
const CONTEXT_LOST: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().unwrap_or(0);
    let result = match words[..] {
        ["--ptx", folder] => write_modules(Path::new(folder)),
        ["--child", which, start, end, folder] => match child(which, number(start), number(end), Path::new(folder)) {
            Ok(true) => Ok(()),
            Ok(false) => return ExitCode::from(CONTEXT_LOST),
            Err(error) => Err(error),
        },
        ["--missing", folder] => parent("missing", Path::new(folder)),
        [folder] => parent("all", Path::new(folder)),
        _ => Err("usage: conformance [--missing | --ptx] FOLDER".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Groups of fixtures that go into one module: of one target, and not too many.
fn modules(list: &[Fixture]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, fixture) in list.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if group.len() < PER_MODULE && list[group[0]].target == fixture.target => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    groups
}

fn write_modules(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let list = fixtures();
    for (number, group) in modules(&list).iter().enumerate() {
        let members: Vec<&Fixture> = group.iter().map(|&i| &list[i]).collect();
        fs::write(folder.join(format!("{number:04}.ptx")), module(&members))?;
    }
    let results: usize = list.iter().map(|f| f.threads() * f.outs).sum();
    println!("{} fixtures, {results} results", list.len());
    for row in missing() {
        println!("no fixture: {}: {}", row.section, row.pattern);
    }
    Ok(())
}

/// The fixtures to be run: `all`, or those `missing` in a folder.
fn wanted(which: &str, folder: &Path) -> std::io::Result<Vec<Fixture>> {
    let mut list = fixtures();
    if which == "missing" {
        let known = answers_in(folder)?;
        list.retain(|fixture| !known.contains_key(&fixture.name));
    }
    Ok(list)
}

fn parent(which: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let list = wanted(which, folder)?;
    println!("{} fixtures", list.len());
    let program = std::env::current_exe()?;
    let part = folder.join("part");
    let mut all = Answers::new();
    let mut start = 0;
    let mut chunk = CHUNK;
    while start < list.len() {
        let _ = fs::remove_file(&part);
        let end = list.len().min(start + chunk);
        let mut child = Command::new(&program)
            .args(["--child", which, &start.to_string(), &end.to_string()])
            .arg(folder)
            .spawn()?;
        let ended = wait(&mut child, PATIENCE)?;
        let answers = fs::read(&part).ok().and_then(|bytes| read_answers(&bytes)).unwrap_or_default();
        start += answers.len();
        let progress = !answers.is_empty();
        all.extend(answers);
        match ended {
            // Whatever it was that went wrong, the answers up to there are good.
            Some(_) if progress => chunk = (4 * chunk).min(CHUNK),
            _ if chunk > 1 => chunk = chunk.div_ceil(8),
            ended => {
                let reason = match ended {
                    Some(status) => format!("the program ended with {status}"),
                    None => format!("no answer in {} seconds", PATIENCE.as_secs()),
                };
                println!("{}: {reason}", list[start].name);
                all.insert(list[start].name.clone(), Err(reason));
                start += 1;
            }
        }
    }
    let _ = fs::remove_file(&part);
    if which == "missing" {
        all.extend(answers_in(folder)?);
    }
    write_groups(&fixtures(), all, folder)
}

fn write_groups(list: &[Fixture], mut all: Answers, folder: &Path) -> Result<(), Box<dyn Error>> {
    let groups: BTreeSet<String> = list.iter().map(Fixture::group).collect();
    for group in groups {
        let names = list.iter().filter(|f| f.group() == group);
        let answers = names.filter_map(|f| all.remove_entry(&f.name)).collect::<Answers>();
        let failed: Vec<_> = answers.iter().filter_map(|(name, a)| Some((name, a.as_ref().err()?))).collect();
        println!("{group}: {} answers, {} failed", answers.len(), failed.len());
        for (name, reason) in failed {
            println!("  {name}: {reason}");
        }
        fs::write(folder.join(format!("{group}.bin")), write_answers(&answers))?;
    }
    Ok(())
}

/// The exit status, or nothing when the child had to be ended.
fn wait(child: &mut Child, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    while begin.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Runs some fixtures; `false` when one of them took the context down.
fn child(which: &str, start: usize, end: usize, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let list = wanted(which, folder)?;
    let end = end.min(list.len());
    let device = Device::new()?;
    if start == 0 {
        let name = device.describe()?;
        println!("{name}");
        fs::write(folder.join("device.txt"), format!("{name}\n"))?;
    }
    let mut answers = Answers::new();
    let mut alive = true;
    'groups: for group in modules(&list[start..end]) {
        let members: Vec<&Fixture> = group.iter().map(|&i| &list[start + i]).collect();
        let mut loaded = Vec::new();
        match device.load(&module(&members)) {
            Ok(handle) => loaded.push((handle, members)),
            Err(_) => {
                for member in members {
                    match device.load(&module(&[member])) {
                        Ok(handle) => loaded.push((handle, vec![member])),
                        Err(reason) => drop(answers.insert(member.name.clone(), Err(reason))),
                    }
                }
            }
        }
        for (handle, members) in loaded {
            for (index, member) in members.iter().enumerate() {
                let answer = device.run(handle, index, member);
                alive = answer.is_ok() || device.alive();
                answers.insert(member.name.clone(), answer);
                if !alive {
                    break 'groups;
                }
            }
            // SAFETY: the module is loaded, and nothing of it runs.
            unsafe { sys::cuModuleUnload(handle) };
        }
    }
    fs::write(folder.join("part"), write_answers(&answers))?;
    Ok(alive)
}

struct Device {
    inputs: [u64; 3],
    out: u64,
    textures: [u64; 11],
}

const INPUT_BYTES: usize = 8 * 8192;
const OUT_BYTES: usize = 8 * INPUT_BYTES;

impl Device {
    fn new() -> Result<Self, String> {
        device::open()?;
        let zeros = |bytes: usize| device::upload(&vec![0; bytes / 4]);
        let inputs = [zeros(INPUT_BYTES)?, zeros(INPUT_BYTES)?, zeros(INPUT_BYTES)?];
        let mut textures = [0; 11];
        for (handle, source) in textures.iter_mut().zip(TEXTURES) {
            // SAFETY: a context is current.
            *handle = unsafe { texture(source) }?;
        }
        Ok(Self { inputs, out: zeros(OUT_BYTES)?, textures })
    }

    fn describe(&self) -> Result<String, String> {
        let mut name = [0u8; 128];
        let mut version = 0;
        // SAFETY: the buffer is as long as said.
        unsafe {
            check(sys::cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32, 0), "cuDeviceGetName:")?;
            check(sys::cuDriverGetVersion(&mut version), "cuDriverGetVersion:")?;
        }
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy();
        Ok(format!("{name}, driver for CUDA {}.{}", version / 1000, version % 1000 / 10))
    }

    fn alive(&self) -> bool {
        // SAFETY: no arguments.
        unsafe { sys::cuCtxSynchronize() == sys::CUresult::CUDA_SUCCESS }
    }

    fn load(&self, text: &str) -> Result<sys::CUmodule, String> {
        let text = CString::new(text).map_err(|e| e.to_string())?;
        let mut log = vec![0u8; 4096];
        let mut options =
            [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let mut handle = null_mut();
        // SAFETY: the text ends with NUL; the log is as long as said.
        let code = unsafe {
            let (text, options) = (text.as_ptr().cast(), options.as_mut_ptr());
            sys::cuModuleLoadDataEx(&mut handle, text, 2, options, values.as_mut_ptr())
        };
        check(code, &format!("{}:", CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy()))?;
        Ok(handle)
    }

    fn run(&self, handle: sys::CUmodule, index: usize, fixture: &Fixture) -> Result<Vec<u64>, String> {
        let name = CString::new(format!("k{index}")).map_err(|e| e.to_string())?;
        let threads = fixture.threads();
        let mut out = vec![0u64; threads * fixture.outs];
        let mut blob = [0u8; BLOB];
        blob.iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8 + 1);
        let mut arguments = [self.out, self.inputs[0], self.inputs[1], self.inputs[2]];
        let mut textures = self.textures;
        let mut parameters: Vec<*mut c_void> = arguments.iter_mut().map(|a| (a as *mut u64).cast()).collect();
        parameters.push(blob.as_mut_ptr().cast());
        parameters.push(textures.as_mut_ptr().cast());
        assert!(8 * threads <= INPUT_BYTES && 8 * out.len() <= OUT_BYTES);
        // SAFETY: buffers are as large as the copies, and the kernel has these parameters.
        unsafe {
            let mut function = null_mut();
            check(sys::cuModuleGetFunction(&mut function, handle, name.as_ptr()), "cuModuleGetFunction:")?;
            for (buffer, values) in self.inputs.iter().zip(&fixture.inputs) {
                check(sys::cuMemcpyHtoD_v2(*buffer, values.as_ptr().cast(), 8 * threads), "cuMemcpyHtoD:")?;
            }
            check(sys::cuMemsetD8_v2(self.out, 0, 8 * out.len()), "cuMemsetD8:")?;
            let (blocks, none, parameters) = (threads as u32 / BLOCK, null_mut(), parameters.as_mut_ptr());
            let launched = sys::cuLaunchKernel(function, blocks, 1, 1, BLOCK, 1, 1, 0, none, parameters, null_mut());
            check(launched, "cuLaunchKernel:")?;
            check(sys::cuCtxSynchronize(), "running it:")?;
            check(sys::cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), self.out, 8 * out.len()), "cuMemcpyDtoH:")?;
        }
        Ok(out)
    }
}

/// # Safety
/// A context is current.
unsafe fn texture(source: TextureSource) -> Result<u64, String> {
    let format = match source.channel {
        'f' => sys::CUarray_format::CU_AD_FORMAT_FLOAT,
        's' => sys::CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        _ => sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
    };
    // SAFETY: structures of plain data in which zeros are valid, filled where it matters.
    unsafe {
        let mut resource: sys::CUDA_RESOURCE_DESC = std::mem::zeroed();
        if source.buffer {
            let words = source.words();
            resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
            resource.res.linear.devPtr = device::upload(&words)?;
            resource.res.linear.format = format;
            resource.res.linear.numChannels = 4;
            resource.res.linear.sizeInBytes = 4 * words.len();
        } else {
            resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
            resource.res.array.hArray = array(source, format)?;
        }
        let mut sampling: sys::CUDA_TEXTURE_DESC = std::mem::zeroed();
        sampling.addressMode = [sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3];
        use sys::CUfilter_mode::{CU_TR_FILTER_MODE_LINEAR, CU_TR_FILTER_MODE_POINT};
        sampling.filterMode = if source.filtered { CU_TR_FILTER_MODE_LINEAR } else { CU_TR_FILTER_MODE_POINT };
        // Integers as they are, not as fractions of their range.
        sampling.flags = if source.channel == 'f' { 0 } else { 1 };
        let mut handle = 0;
        check(sys::cuTexObjectCreate(&mut handle, &resource, &sampling, std::ptr::null()), "cuTexObjectCreate:")?;
        Ok(handle)
    }
}

/// # Safety
/// A context is current.
unsafe fn array(source: TextureSource, format: sys::CUarray_format) -> Result<sys::CUarray, String> {
    let words = source.words();
    let row = 16 * TextureSource::WIDTH;
    let shape = sys::CUDA_ARRAY_DESCRIPTOR {
        Width: TextureSource::WIDTH,
        Height: if source.dims == 1 { 0 } else { source.height() },
        Format: format,
        NumChannels: 4,
    };
    // SAFETY: the copy reads as many bytes as there are.
    unsafe {
        let mut array = null_mut();
        check(sys::cuArrayCreate_v2(&mut array, &shape), "cuArrayCreate:")?;
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: words.as_ptr().cast(),
            srcDevice: 0,
            srcArray: null_mut(),
            srcPitch: row,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstHost: null_mut(),
            dstDevice: 0,
            dstArray: array,
            dstPitch: 0,
            WidthInBytes: row,
            Height: source.height(),
        };
        check(sys::cuMemcpy2D_v2(&copy), "cuMemcpy2D:")?;
        Ok(array)
    }
}
