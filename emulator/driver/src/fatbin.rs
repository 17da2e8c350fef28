//! Fatbinaries, as `nvcc` makes them: several images in one, of which the device takes a member.
//!
//! A head of 16 bytes has the total length; each member has a head with its kind, its architecture and its length, and
//! may be compressed. PTX comes first, because messages about it are more specific.

#[cfg(test)]
mod tests;

pub(crate) const HEAD: &[u8] = b"\x50\xed\x55\xba";
/// The first bytes of the wrapper that `nvcc` puts into programs: it has the address of a fatbinary 8 bytes on.
pub(crate) const WRAPPER: &[u8] = b"\xb1\x43\x62\x46";
pub(crate) const HEAD_BYTES: u64 = 16;

const PTX: u16 = 1;
const CUBIN: u16 = 2;
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;

/// Result of the search for a member.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    Image(Vec<u8>),
    Damaged,
    /// Only members for other devices: the kind and the architecture of each.
    Others(Vec<String>),
    /// A member for this device, compressed by an unsupported method.
    Compressed,
}

pub(crate) fn length(head: &[u8]) -> Option<u64> {
    let own = number(head, 6, 2)?;
    own.checked_add(number(head, 8, 8)?)
}

/// Chooses the member for a device of this architecture, of at most `most` bytes.
pub(crate) fn choose(bytes: &[u8], architecture: u64, max_bytes: u64) -> Selection {
    members(bytes, architecture, max_bytes).unwrap_or(Selection::Damaged)
}

fn members(bytes: &[u8], architecture: u64, max_bytes: u64) -> Option<Selection> {
    let end = usize::try_from(length(bytes)?).ok()?;
    let bytes = bytes.get(..end)?;
    let mut position = usize::try_from(number(bytes, 6, 2)?).ok()?;
    let mut others = Vec::new();
    let mut compressed = false;
    // PTX before machine code, newer before older.
    let mut best: Option<((bool, u64), Vec<u8>)> = None;
    while position < end {
        let member = bytes.get(position..)?;
        let (kind, head, size) = (number(member, 0, 2)? as u16, number(member, 4, 4)?, number(member, 8, 8)?);
        let (packed, sm) = (number(member, 16, 4)?, number(member, 28, 4)?);
        let (flags, unpacked) = (number(member, 40, 8)?, number(member, 56, 8)?);
        let start = usize::try_from(head).ok().filter(|head| *head >= 64)?;
        let stop = start.checked_add(usize::try_from(size).ok()?)?;
        let contents = member.get(start..stop)?;
        position = position.checked_add(stop)?;
        let fits = match kind {
            PTX => sm <= architecture,
            CUBIN => sm == architecture,
            _ => false,
        };
        let rank = (kind == PTX, sm);
        if !fits {
            let language = match kind {
                PTX => "PTX for ",
                CUBIN => "",
                _ => "something else for ",
            };
            others.push(format!("{language}sm_{sm}"));
        } else if flags & ZSTANDARD != 0 {
            compressed = true;
        } else if best.as_ref().is_none_or(|(best, _)| rank > *best) {
            let contents = match flags & LZ4 {
                0 => contents.to_vec(),
                _ => {
                    let packed = contents.get(..usize::try_from(packed).ok()?)?;
                    let unpacked = usize::try_from(unpacked.min(max_bytes)).ok()?;
                    unpack(packed, unpacked)?
                }
            };
            best = Some((rank, contents));
        }
    }
    Some(match best {
        Some((_, image)) => Selection::Image(image),
        None if compressed => Selection::Compressed,
        None => Selection::Others(others),
    })
}

/// Reads a little-endian number of up to eight bytes.
pub(crate) fn number(bytes: &[u8], start: usize, size: usize) -> Option<u64> {
    let field = bytes.get(start..)?.get(..size)?;
    Some(field.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

/// Decompresses a block of LZ4: alternating literals and copies of earlier bytes.
fn unpack(packed: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    let mut rest = packed.iter().copied();
    let mut out = Vec::new();
    // Lengths from 15 on continue in bytes of their own, up to one that is not 255.
    let length = |rest: &mut dyn Iterator<Item = u8>, short: u8| {
        let mut n = usize::from(short);
        if short == 15 {
            loop {
                let more = rest.next()?;
                n = n.checked_add(more.into())?;
                if more < 255 {
                    break;
                }
            }
        }
        Some(n)
    };
    while let Some(token) = rest.next() {
        let literals = length(&mut rest, token >> 4)?;
        if out.len().checked_add(literals)? > max_bytes {
            return None;
        }
        for _ in 0..literals {
            out.push(rest.next()?);
        }
        let Some(low) = rest.next() else {
            // The last sequence has no copy.
            return Some(out);
        };
        let back = usize::from(u16::from_le_bytes([low, rest.next()?]));
        let copied = length(&mut rest, token & 15)?.checked_add(4)?;
        let start = out.len().checked_sub(back).filter(|_| back > 0)?;
        if out.len().checked_add(copied)? > max_bytes {
            return None;
        }
        for index in start..start + copied {
            out.push(out[index]);
        }
    }
    Some(out)
}
