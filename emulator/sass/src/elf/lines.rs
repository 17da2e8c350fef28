//! Source lines of code: `.debug_line`, in the format of DWARF.
//!
//! Relocations name the sections of addresses, so each gets its own range. Damage costs only the lines.

use std::collections::HashMap;

use gimli::{DebugLine, EndianSlice, LineProgramHeader, LittleEndian as Little, Reader, RelocateReader};

use super::{ENDIAN, File};
use crate::error::ReadError;
use crate::module::{Call, CubinKernel, Segment, SourceLine};

/// Bits of the address range of a section.
const ROOM: u32 = 40;

/// Kernels that addresses in `.debug_line` refer to, by the place of the address.
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

/// Adds the source lines to the kernels.
pub(super) fn add(file: &File<'_>, kernels: &mut [CubinKernel]) -> Result<(), ReadError> {
    let Some(&at) = file.by_name.get(".debug_line") else { return Ok(()) };
    if !file.is_data(at) {
        return Ok(());
    }
    let bytes = file.bytes(at)?;
    let mut places = HashMap::new();
    let tables = [".rel.debug_line", ".rela.debug_line"];
    for &at in tables.iter().filter_map(|name| file.by_name.get(name)) {
        for entry in file.entries(at)? {
            let symbol = file.symbol(&entry, at)?;
            let section = usize::from(object::read::elf::Sym::st_shndx(symbol, ENDIAN));
            let Some(&Segment::Code(kernel)) = file.segments.get(&section) else { continue };
            // `addend_in` adds the bytes in place when the address is read.
            let addend = entry.addend.unwrap_or(0).cast_unsigned();
            let start = symbol.st_value.get(ENDIAN).checked_add(addend);
            if let (Ok(offset), Some(start)) = (usize::try_from(entry.offset), start) {
                places.insert(offset, (kernel, start));
            }
        }
    }
    let section = RelocateReader::new(EndianSlice::new(bytes, Little), Relocations(&places));
    // Damaged lines are left out.
    let _ = read(section, bytes.len(), kernels);
    for kernel in kernels {
        // The last of several lines for one address holds.
        kernel.lines.sort_by_key(|line| line.address);
        kernel.lines.reverse();
        kernel.lines.dedup_by_key(|line| line.address);
        kernel.lines.reverse();
    }
    Ok(())
}

/// A row of the line table: its kernel, its line, and its place among the kernel's calls once a call is inlined there.
struct Row {
    kernel: usize,
    call: Call,
    place: Option<usize>,
}

/// NVIDIA's operation for inlined code: the row, from 1, where the following rows were inlined, or 0.
const INLINED: gimli::DwLne = gimli::DwLne(0x90);

fn read<R: Reader<Offset = usize>>(section: R, length: usize, kernels: &mut [CubinKernel]) -> gimli::Result<()> {
    let lines = DebugLine::from(section);
    let mut offset = 0;
    // Bound on rows and letters of names: programs that the compiler made have far fewer.
    let mut left = length.saturating_mul(4);
    let mut spend = |n: usize| -> gimli::Result<()> {
        left = left.checked_sub(n).ok_or(gimli::Error::InvalidAddressRange)?;
        Ok(())
    };
    let mut files: HashMap<(usize, String), usize> = HashMap::new();
    while offset < length {
        let mut program = lines.program(gimli::DebugLineOffset(offset), 8, None, None)?;
        let header = program.header().clone();
        // The length itself takes four bytes.
        offset = offset.saturating_add(header.unit_length()).saturating_add(4);
        let mut known: HashMap<(usize, u64), usize> = HashMap::new();
        let mut instructions = header.instructions();
        let mut row = gimli::LineRow::new(&header);
        let (mut rows, mut inlined): (Vec<Row>, u64) = (Vec::new(), 0);
        while let Some(instruction) = instructions.next_instruction(&header)? {
            if let gimli::LineInstruction::UnknownExtended(INLINED, mut operands) = instruction {
                inlined = operands.read_uleb128()?;
                continue;
            }
            if !row.execute(instruction, &mut program)? {
                continue;
            }
            spend(1)?;
            let place = (row.address() >> ROOM) as usize;
            let address = row.address() & ((1 << ROOM) - 1);
            let is_end = row.end_sequence();
            let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
            let number = row.file_index();
            row.reset(&header);
            if is_end {
                (rows, inlined) = (Vec::new(), 0);
                continue;
            }
            let caller = usize::try_from(inlined).ok().and_then(|number| {
                let at = rows.get_mut(number.checked_sub(1)?)?;
                if at.kernel != place {
                    return None;
                }
                let calls = &mut kernels.get_mut(place)?.calls;
                let new = *at.place.get_or_insert(calls.len());
                if new == calls.len() {
                    calls.push(at.call);
                }
                Some(new)
            });
            let mut call = Call { file: 0, line, caller };
            if let Some(kernel) = kernels.get_mut(place) {
                let file = match known.get(&(place, number)) {
                    Some(&file) => Some(file),
                    None => match name(&header, number)? {
                        Some(name) => {
                            spend(name.len())?;
                            let file = *files.entry((place, name)).or_insert_with_key(|(_, name)| {
                                kernel.files.push(name.clone());
                                kernel.files.len() - 1
                            });
                            known.insert((place, number), file);
                            Some(file)
                        }
                        None => None,
                    },
                };
                call.file = file.unwrap_or(usize::MAX);
                if file.is_some() && address < kernel.instructions.len() as u64 * 16 {
                    kernel.lines.push(SourceLine { address: address as u32, file: call.file, line, caller });
                }
            }
            rows.push(Row { kernel: place, call, place: None });
        }
    }
    Ok(())
}

/// Returns the name of a file with its folder, if it has one.
fn name<R: Reader<Offset = usize>>(header: &LineProgramHeader<R>, index: u64) -> gimli::Result<Option<String>> {
    let Some(file) = header.file(index) else { return Ok(None) };
    let text = |value| match value {
        gimli::AttributeValue::String(text) => Reader::to_string_lossy(&text).map(|text| text.into_owned()),
        _ => Ok(String::new()),
    };
    let name = text(file.path_name())?;
    let folder = file.directory(header).map_or(Ok(String::new()), text)?;
    Ok(Some(if folder.is_empty() || name.starts_with('/') { name } else { format!("{folder}/{name}") }))
}
