//! Texture fetches ("Texture Fetching" in the CUDA programming guide).

#[cfg(test)]
mod tests;

use crate::lane_mask::LaneMask;
use ptx::ast::Type;

use crate::check::MistakeDetails;
use crate::texture::{AddressMode, FilterMode, TexelFormat, TextureObject};
use arithmetic::{half::f16_to_f32, lanes::NONE};
use program::Texture;

use crate::exec::worker::Worker;

impl Worker<'_> {
    pub(crate) fn texture(&mut self, t: &Texture, pc: u32, active: LaneMask) {
        let textures = self.job.environment.textures;
        let mut bad = LaneMask::EMPTY;
        for lane in active.iter() {
            let texel = match textures.objects.get(&self.u64_at(t.handle, lane)) {
                Some(object) => {
                    let coordinate = |worker: &Self, i: usize| match t.coordinates[i] {
                        NONE => 0,
                        src => worker.u32_at(src, lane),
                    };
                    let at = [coordinate(self, 0), if t.dims > 1 { coordinate(self, 1) } else { 0 }];
                    fetch(object, t, at)
                }
                None => {
                    bad |= LaneMask::of(lane);
                    [0; 4]
                }
            };
            for (dst, value) in t.dst.iter().zip(texel) {
                self.set32(*dst, lane, value);
            }
        }
        if !bad.is_empty() {
            let handle = self.u64_at(t.handle, bad.first());
            self.record_mistake(pc, bad, MistakeDetails::Texture { handle });
        }
    }
}

/// Returns the four values of one fetch, as bits.
fn fetch(object: &TextureObject, t: &Texture, at: [u32; 2]) -> [u32; 4] {
    let size = [i64::from(object.width), i64::from(object.height.max(1))];
    if !t.float_coordinates {
        // Texels by number; there is nothing outside.
        let [x, y] = at.map(|c| i64::from(c as i32));
        let inside = (0..size[0]).contains(&x) && (0..size[1]).contains(&y);
        return if inside { raw(object, x, y, t.ty) } else { [0; 4] };
    }
    let mut place = [0.0f32; 2];
    for (axis, p) in place.iter_mut().enumerate().take(usize::from(t.dims.min(2))) {
        let c = f32::from_bits(at[axis]);
        *p = if object.normalised_coordinates { c * size[axis] as f32 } else { c };
        // A coordinate that is not a number counts as 0; one far outside is clamped.
        *p = if p.is_nan() { 0.0 } else { p.clamp(-1e9, 1e9) };
    }
    let texel = |x: i64, y: i64| match (resolve(object, 0, x, size[0]), resolve(object, 1, y, size[1])) {
        (Some(x), Some(y)) => raw(object, x, y, t.ty),
        _ => [0; 4],
    };
    if object.filter == FilterMode::Point || is_integer(object) || t.ty != Type::F32 {
        let [x, y] = place.map(|p| p.floor() as i64);
        return texel(x, y);
    }
    let (x, a) = corner(place[0]);
    let (y, b) = if t.dims > 1 { corner(place[1]) } else { (0, 0.0) };
    let parts = [
        (texel(x, y), (1.0 - a) * (1.0 - b)),
        (texel(x + 1, y), a * (1.0 - b)),
        (texel(x, y + 1), (1.0 - a) * b),
        (texel(x + 1, y + 1), a * b),
    ];
    let parts = || parts.iter().filter(|(_, weight)| *weight != 0.0);
    let blend = |i: usize| parts().map(|(texel, weight)| f32::from_bits(texel[i]) * weight).sum::<f32>();
    std::array::from_fn(|i| blend(i).to_bits())
}

/// Returns the lower neighbour, and the weight of the upper one in 8 bits of fraction.
fn corner(place: f32) -> (i64, f32) {
    let from_centre = place - 0.5;
    let low = from_centre.floor();
    let weight = ((from_centre - low) * 256.0).round() / 256.0;
    (low as i64, weight)
}

/// Returns a texel's number on one axis; `None` if it is beyond the border.
fn resolve(object: &TextureObject, axis: usize, i: i64, n: i64) -> Option<i64> {
    if n <= 0 {
        return None;
    }
    let mode = match object.address[axis] {
        AddressMode::Wrap | AddressMode::Mirror if !object.normalised_coordinates => AddressMode::Clamp,
        mode => mode,
    };
    match mode {
        AddressMode::Clamp => Some(i.clamp(0, n - 1)),
        AddressMode::Border => (0..n).contains(&i).then_some(i),
        AddressMode::Wrap => Some(i.rem_euclid(n)),
        AddressMode::Mirror => {
            let i = i.rem_euclid(2 * n);
            Some(i.min(2 * n - 1 - i))
        }
    }
}

fn is_integer(object: &TextureObject) -> bool {
    match object.format {
        TexelFormat::U32 | TexelFormat::S32 => true,
        TexelFormat::F16 | TexelFormat::F32 => false,
        _ => object.read_as_integer,
    }
}

/// Returns a texel's channels as they arrive in registers; missing ones are zero.
fn raw(object: &TextureObject, x: i64, y: i64, ty: Type) -> [u32; 4] {
    let bytes = object.format.bytes();
    let channels = object.channels.min(4) as usize;
    let index = (y as usize).wrapping_mul(object.width as usize).wrapping_add(x as usize);
    std::array::from_fn(|c| {
        if c >= channels {
            return 0;
        }
        let start = index.wrapping_mul(channels).wrapping_add(c).wrapping_mul(bytes);
        let stored = start.checked_add(bytes).and_then(|end| object.data.get(start..end)).unwrap_or(&[0; 4]);
        let word = stored.iter().rev().fold(0u32, |w, b| w << 8 | u32::from(*b));
        channel(object, word, ty)
    })
}

/// Set in every NaN that a texture gives.
const QUIET: u32 = 1 << 22;

fn channel(object: &TextureObject, word: u32, ty: Type) -> u32 {
    let scaled = !object.read_as_integer && ty == Type::F32;
    let float = |v: f32| v.to_bits();
    match object.format {
        TexelFormat::F16 => match f16_to_f32(word as u16) {
            nan if nan.is_nan() => nan.to_bits() | QUIET,
            v => float(v),
        },
        TexelFormat::U8 if scaled => float(word as u8 as f32 / 255.0),
        TexelFormat::U16 if scaled => float(word as u16 as f32 / 65535.0),
        TexelFormat::S8 if scaled => float((word as i8 as f32 / 127.0).max(-1.0)),
        TexelFormat::S16 if scaled => float((word as i16 as f32 / 32767.0).max(-1.0)),
        TexelFormat::F32 | TexelFormat::U32 | TexelFormat::S32 | TexelFormat::U8 | TexelFormat::U16 => word,
        TexelFormat::S8 => word as i8 as i32 as u32,
        TexelFormat::S16 => word as i16 as i32 as u32,
    }
}
