//! Source lines of code: `.debug_line`, in the format of DWARF.
//!
//! Its addresses are those of sections that relocations name, so each section gets a range of addresses to itself.
//! What is damaged here costs only the lines: the code runs without.

use std::collections::HashMap;

use gimli::{DebugLine, EndianSlice, LineProgramHeader, LittleEndian as Little, Reader, RelocateReader};

use super::{ENDIAN, File};
use crate::error::ReadError;
use crate::module::{Kernel, Line, Segment};

/// Room of a section among the addresses.
const ROOM: u32 = 40;

/// By the place of an address in `.debug_line`, which kernel it is about.
#[derive(Debug, Clone, Copy)]
struct Relocations<'a>(&'a HashMap<usize, (usize, u64)>);

impl gimli::read::Relocate<usize> for Relocations<'_> {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        let (kernel, start) = self.0.get(&offset).ok_or(gimli::Error::InvalidAddressRange)?;
        let address = value.checked_add(*start).filter(|address| address >> ROOM == 0);
        Ok(address.ok_or(gimli::Error::AddressOverflow)? | (*kernel as u64) << ROOM)
    }

    fn relocate_offset(&self, _: usize, value: usize) -> gimli::Result<usize> {
        Ok(value)
    }
}

/// Gives the kernels their lines.
pub(super) fn add(file: &File<'_>, kernels: &mut [Kernel]) -> Result<(), ReadError> {
    let Some(&at) = file.by_name.get(".debug_line") else {
        return Ok(());
    };
    if !file.is_data(at) {
        return Ok(());
    }
    let bytes = file.bytes(at)?;
    let mut places = HashMap::new();
    if let Some(&at) = file.by_name.get(".rela.debug_line") {
        for entry in file.entries(at)? {
            let symbol = file.symbol(entry, at)?;
            let section = usize::from(object::read::elf::Sym::st_shndx(symbol, ENDIAN));
            let Some(&Segment::Code(kernel)) = file.segments.get(&section) else {
                continue;
            };
            let addend = entry.r_addend.get(ENDIAN).cast_unsigned();
            let start = symbol.st_value.get(ENDIAN).checked_add(addend);
            if let (Ok(offset), Some(start)) = (usize::try_from(entry.r_offset.get(ENDIAN)), start) {
                places.insert(offset, (kernel, start));
            }
        }
    }
    let section = RelocateReader::new(EndianSlice::new(bytes, Little), Relocations(&places));
    // Damaged lines are left out.
    let _ = read(section, bytes.len(), kernels);
    for kernel in kernels {
        // Of several lines for one address the last one holds.
        kernel.lines.sort_by_key(|line| line.address);
        kernel.lines.reverse();
        kernel.lines.dedup_by_key(|line| line.address);
        kernel.lines.reverse();
    }
    Ok(())
}

fn read<R: Reader<Offset = usize>>(section: R, length: usize, kernels: &mut [Kernel]) -> gimli::Result<()> {
    let lines = DebugLine::from(section);
    let mut offset = 0;
    // Rows, and letters of names: programs that the compiler made have far fewer.
    let mut left = length.saturating_mul(4);
    let mut spend = |n: usize| -> gimli::Result<()> {
        left = left.checked_sub(n).ok_or(gimli::Error::InvalidAddressRange)?;
        Ok(())
    };
    let mut files: HashMap<(usize, String), usize> = HashMap::new();
    while offset < length {
        let program = lines.program(gimli::DebugLineOffset(offset), 8, None, None)?;
        let header = program.header().clone();
        // The length itself takes four bytes.
        offset = offset.saturating_add(header.unit_length()).saturating_add(4);
        let mut known: HashMap<(usize, u64), usize> = HashMap::new();
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row()? {
            spend(1)?;
            let place = (row.address() >> ROOM) as usize;
            let Some(kernel) = kernels.get_mut(place) else {
                continue;
            };
            let address = row.address() & ((1 << ROOM) - 1);
            let end = kernel.instructions.len() as u64 * 16;
            if row.end_sequence() || address >= end {
                continue;
            }
            let file = match known.get(&(place, row.file_index())) {
                Some(&file) => file,
                None => {
                    let Some(name) = name(&header, row.file_index())? else {
                        continue;
                    };
                    spend(name.len())?;
                    let file = *files.entry((place, name)).or_insert_with_key(|(_, name)| {
                        kernel.files.push(name.clone());
                        kernel.files.len() - 1
                    });
                    known.insert((place, row.file_index()), file);
                    file
                }
            };
            let line = row
                .line()
                .map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
            kernel.lines.push(Line {
                address: address as u32,
                file,
                line,
            });
        }
    }
    Ok(())
}

/// The name of a file with its folder, if it has one.
fn name<R: Reader<Offset = usize>>(
    header: &LineProgramHeader<R>,
    index: u64,
) -> gimli::Result<Option<String>> {
    let Some(file) = header.file(index) else {
        return Ok(None);
    };
    let text = |value| match value {
        gimli::AttributeValue::String(text) => Reader::to_string_lossy(&text).map(|text| text.into_owned()),
        _ => Ok(String::new()),
    };
    let name = text(file.path_name())?;
    let folder = file.directory(header).map_or(Ok(String::new()), text)?;
    Ok(Some(match folder.is_empty() || name.starts_with('/') {
        true => name,
        false => format!("{folder}/{name}"),
    }))
}
