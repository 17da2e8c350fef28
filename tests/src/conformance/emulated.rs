//! The fixtures on the emulated GPU.

use std::sync::Arc;

use simt::texture::{AddressMode, FilterMode, TexelFormat, TextureObject};
use simt::{launch::CheckLevel, module::Module};

use super::{BLOB, BLOCK, Fixture, TEXTURES, TextureSource, module};
use crate::gpu::{Argument, Geometry, Gpu, clean, options};

/// Returns the answers of the emulator to fixtures of one target, in their order.
pub fn emulate(fixtures: &[&Fixture]) -> Vec<Result<Vec<u64>, String>> {
    emulate_text(fixtures, &module(fixtures))
}

/// Returns the answers of the emulator where every third lane has left before the instruction that is tried: its
/// results stay 0.
pub fn emulate_some_lanes(fixtures: &[&Fixture]) -> Vec<Result<Vec<u64>, String>> {
    const LOADED: &str = "    ld.global.b64 %c, [%C];\n";
    let leave = format!("{LOADED}    rem.u32 %r0, %t, 3;\n    setp.eq.u32 %p7, %r0, 1;\n    @%p7 ret;\n");
    emulate_text(fixtures, &module(fixtures).replace(LOADED, &leave))
}

fn emulate_text(fixtures: &[&Fixture], text: &str) -> Vec<Result<Vec<u64>, String>> {
    let (gpu, handles) = device();
    match Module::load(&gpu.memory, text, None) {
        Ok(loaded) => fixtures.iter().enumerate().map(|(k, f)| run(&gpu, &loaded, k, f, &handles)).collect(),
        Err(error) if fixtures.len() == 1 => vec![Err(error.to_string())],
        // One bad apple: one by one.
        Err(_) => fixtures.iter().flat_map(|f| emulate(&[f])).collect(),
    }
}

pub fn emulate_machine_code(fixtures: &[&Fixture], cubin: &[u8]) -> Result<Vec<Result<Vec<u64>, String>>, String> {
    let (gpu, handles) = device();
    let code = sass::Module::read(cubin).map_err(|error| error.to_string())?;
    let loaded = Module::load_machine_code(&gpu.memory, &code, None).map_err(|error| error.to_string())?;
    let kernels = fixtures.iter().enumerate();
    Ok(kernels.map(|(k, f)| run(&gpu, &loaded, k, f, &handles)).collect())
}

fn device() -> (Gpu, Vec<u8>) {
    let mut gpu = Gpu::default();
    let mut handles = Vec::new();
    for (index, source) in TEXTURES.into_iter().enumerate() {
        let handle = index as u64 + 1;
        gpu.textures.objects.insert(handle, Arc::new(texture(source)));
        handles.extend(handle.to_le_bytes());
    }
    (gpu, handles)
}

fn run(gpu: &Gpu, loaded: &Module, index: usize, fixture: &Fixture, handles: &[u8]) -> Result<Vec<u64>, String> {
    let n = fixture.threads() * fixture.outs;
    let out = gpu.upload(&vec![0u64; n]);
    let inputs = fixture.inputs.each_ref().map(|values| gpu.upload(values));
    let mut arguments: Vec<Argument> = [out, inputs[0], inputs[1], inputs[2]].map(Argument::from).into();
    arguments.push(Argument((1..=BLOB as u8).collect()));
    arguments.push(Argument(handles.to_vec()));
    let options = options(CheckLevel::Checked, 1 << 28, 1);
    let shape = Geometry::line(fixture.threads() as u32 / BLOCK, BLOCK);
    let done = gpu.launch(loaded, &format!("k{index}"), shape, &arguments, options);
    let answer = gpu.read(out, n);
    for address in inputs.into_iter().chain([out]) {
        gpu.memory.free(address).map_err(|e| e.to_string())?;
    }
    done.and_then(clean).map(|_| answer)
}

fn texture(source: TextureSource) -> TextureObject {
    TextureObject {
        data: Arc::new(source.words().into_iter().flat_map(u32::to_le_bytes).collect()),
        width: TextureSource::WIDTH as u32,
        height: if source.dims == 1 { 0 } else { source.height() as u32 },
        channels: 4,
        format: match source.channel {
            'f' => TexelFormat::F32,
            's' => TexelFormat::S32,
            _ => TexelFormat::U32,
        },
        // Past the ends of plain memory there are zeros.
        address: [if source.buffer { AddressMode::Border } else { AddressMode::Clamp }; 2],
        filter: if source.filtered { FilterMode::Linear } else { FilterMode::Point },
        normalised_coordinates: false,
        read_as_integer: source.channel != 'f',
    }
}
