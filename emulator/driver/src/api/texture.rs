//! Texture objects: `cuTexObject*`.

use std::ffi::c_uint;
use std::sync::Arc;

use simt::texture::{AddressMode, FilterMode, TexelFormat, TextureObject, Textures};

use crate::api::array::{ARRAYS, Array, texel_format};
use crate::contexts::{MEMORY, usable};
use crate::cuda_constants::texture;
use crate::ffi::{In, Out, by_number, export};
use crate::handle::{ObjectKind, Table};
use crate::result::*;
use crate::types::{Handle, ResourceDesc, TextureDesc};
use crate::{api::copy_ends::device_range, api::ready_for, attributes::limit};

#[derive(Debug)]
enum Source {
    Array(Arc<Array>),
    Linear { address: u64, bytes: usize },
    Pitched { address: u64, width: usize, height: usize, pitch: usize },
}

struct Texture {
    context_id: u64,
    resource: ResourceDesc,
    description: TextureDesc,
    source: Source,
    /// The texture object with all its settings, but without texels: the template of each snapshot.
    template: TextureObject,
}

static TEXTURES: Table<Texture> = Table::new(ObjectKind::Texture);

pub(crate) fn forget_context(id: u64) {
    TEXTURES.remove_where(|t| t.context_id == id);
}

/// Returns a snapshot of the texture objects for a launch, with their present texels.
pub(crate) fn all() -> Textures {
    let mut textures = Textures::default();
    for handle in TEXTURES.handles_where(|_| true) {
        if let Some(texture) = TEXTURES.get(handle) {
            let object = TextureObject { data: texture.texels(), ..texture.template.clone() };
            textures.objects.insert(handle as u64, Arc::new(object));
        }
    }
    textures
}

impl Texture {
    fn texels(&self) -> Arc<Vec<u8>> {
        // Memory that was freed since gives no texels, which read as zero.
        match &self.source {
            Source::Array(array) => array.snapshot(),
            Source::Linear { address, bytes } => {
                let mut data = vec![0; *bytes];
                let read = MEMORY.read(*address, &mut data);
                Arc::new(if read.is_ok() { data } else { Vec::new() })
            }
            Source::Pitched { address, width, height, pitch } => {
                let mut data = vec![0; width * height];
                let mut rows = data.chunks_exact_mut((*width).max(1)).enumerate();
                let read = rows.all(|(y, row)| MEMORY.read(*address + (y * pitch) as u64, row).is_ok());
                Arc::new(if read { data } else { Vec::new() })
            }
        }
    }
}

fn address_mode(mode: c_uint) -> Outcome<AddressMode> {
    by_number(&[AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border], mode)
}

/// Reads the union of a resource by the offsets of its members.
fn source(r: &ResourceDesc) -> Outcome<(Source, TexelFormat, u32, [usize; 2])> {
    let low = |word: u64| word as u32;
    let high = |word: u64| (word >> 32) as u32;
    let format_of = |word: u64| {
        let format = texel_format(low(word)).ok_or(ERROR_INVALID_VALUE)?;
        let channels = high(word);
        if [1, 2, 4].contains(&channels) { Ok((format, channels)) } else { Err(ERROR_INVALID_VALUE) }
    };
    match r.kind {
        0 => {
            let array = ARRAYS.find(r.words[0] as Handle).map_err(|_| ERROR_INVALID_VALUE)?;
            let d = array.descriptor;
            refuse_if(d.depth > 1, ERROR_NOT_SUPPORTED)?;
            let format = texel_format(d.format).ok_or(ERROR_INVALID_VALUE)?;
            Ok((Source::Array(array), format, d.channels, [d.width, d.height]))
        }
        2 => {
            let (address, bytes) = (r.words[0], r.words[2] as usize);
            let (format, channels) = format_of(r.words[1])?;
            refuse_if(bytes == 0 || !address.is_multiple_of(limit::PITCH as u64), ERROR_INVALID_VALUE)?;
            device_range(address, bytes)?;
            let width = bytes / (format.bytes() * channels as usize);
            Ok((Source::Linear { address, bytes }, format, channels, [width, 0]))
        }
        3 => {
            let address = r.words[0];
            let (format, channels) = format_of(r.words[1])?;
            let [width, height, pitch] = [r.words[2], r.words[3], r.words[4]].map(|w| w as usize);
            let row = width.checked_mul(format.bytes() * channels as usize).ok_or(ERROR_INVALID_VALUE)?;
            let bad = width == 0 || height == 0 || pitch < row || pitch % 32 != 0;
            refuse_if(bad || !address.is_multiple_of(limit::PITCH as u64), ERROR_INVALID_VALUE)?;
            let last = (height as u64 - 1).checked_mul(pitch as u64).and_then(|o| o.checked_add(address));
            device_range(address, row)?;
            device_range(last.ok_or(ERROR_INVALID_VALUE)?, row)?;
            Ok((Source::Pitched { address, width: row, height, pitch }, format, channels, [width, height]))
        }
        // Mipmapped arrays.
        1 => Err(ERROR_NOT_SUPPORTED),
        _ => Err(ERROR_INVALID_VALUE),
    }
}

export! {
    fn cuTexObjectCreate 5000(out: Out<u64>, resource: In<ResourceDesc>, description: In<TextureDesc>, view: In<u8>) {
        ready_for(out)?;
        let context = usable()?;
        let (resource, description) = (resource.get()?, description.get()?);
        refuse_if(!view.is_null(), ERROR_NOT_SUPPORTED)?;
        let (source, format, channels, size) = source(&resource)?;
        let filter = by_number(&[FilterMode::Point, FilterMode::Linear], description.filter_mode)?;
        let read_as_integer = description.flags & texture::READ_AS_INTEGER != 0;
        let integers = !matches!(format, TexelFormat::F16 | TexelFormat::F32);
        // Integers cannot be blended, and 32-bit ones are never read as fractions.
        let wide = matches!(format, TexelFormat::U32 | TexelFormat::S32);
        refuse_if(filter == FilterMode::Linear && integers && (read_as_integer || wide), ERROR_INVALID_VALUE)?;
        refuse_if(description.flags & texture::SRGB != 0, ERROR_NOT_SUPPORTED)?;
        let template = TextureObject {
            data: Arc::default(),
            width: size[0] as u32,
            height: size[1] as u32,
            channels,
            format,
            address: [address_mode(description.address_mode[0])?, address_mode(description.address_mode[1])?],
            filter,
            normalised_coordinates: description.flags & texture::NORMALIZED_COORDINATES != 0,
            read_as_integer: read_as_integer || wide,
        };
        let make = |_| Texture { context_id: context.id, resource, description, source, template };
        out.put(TEXTURES.insert_with(make).0 as u64)
    }

    fn cuTexObjectDestroy 5000(handle: u64) = TEXTURES.destroy(handle as Handle).map(drop);
    fn cuTexObjectGetResourceDesc 5000(out: Out<ResourceDesc>, handle: u64) =
        out.put_with(|| Ok(TEXTURES.find(handle as Handle)?.resource));
    fn cuTexObjectGetTextureDesc 5000(out: Out<TextureDesc>, handle: u64) =
        out.put_with(|| Ok(TEXTURES.find(handle as Handle)?.description));
}
