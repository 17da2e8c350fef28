//! Reading of cubins.
//!
//! A cubin is an ELF file with a section of code for each kernel. Nothing in it is trusted: every range is checked, and
//! overlapping sections are bounded, so that memory and time stay in proportion to the file.

mod info;
mod lines;

use std::collections::HashMap;
use std::ops::Range;

use object::elf::{
    FileHeader64, Rel64, Rela64, SHN_ABS, SHN_UNDEF, SHT_PROGBITS, SHT_REL, SHT_RELA, STT_FUNC, STT_OBJECT,
    SectionHeader64, Sym64,
};
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable, SymbolTable};
use object::{endian::LittleEndian, read::SectionIndex};

use crate::error::{ReadError, ReadErrorKind, damaged};
use crate::module::{CubinKernel, Function, Module, Relocation, Segment, Target, Variable};
use crate::{architecture::Architecture, decode::decode};

const ENDIAN: LittleEndian = LittleEndian;
const EM_CUDA: u16 = 190;
/// ABI of cubins that the tools of CUDA 13 write. The number of the GPU and that of barriers have moved there.
const ABI_OF_CUDA_13: u8 = 8;
/// The eight bytes of an address, and of a generic one.
const ADDRESSES: [u32; 2] = [2, 4];

type Header = FileHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;

/// Reads the GPU that a cubin is for, 90 for sm_90, from its header alone.
pub fn sm_of(cubin: &[u8]) -> Result<u32, ReadError> {
    let header = header(cubin)?;
    let flags = header.e_flags.get(ENDIAN);
    Ok(match header.e_ident.abi_version {
        ..ABI_OF_CUDA_13 => flags & 0xff,
        _ => flags >> 8 & 0xff,
    })
}

/// Returns where in a cubin the code of a kernel lies, also if it has instructions outside the table.
pub fn code_range(cubin: &[u8], kernel: &str) -> Result<Range<usize>, ReadError> {
    let (file, section) = (File::new(cubin, header(cubin)?)?, format!(".text.{kernel}"));
    let missing = || damaged("there is no such section", &section);
    let at = *file.by_name.get(section.as_str()).ok_or_else(missing)?;
    let size = file.bytes(at)?.len();
    let offset = file.section(at)?.file_range(ENDIAN).and_then(|(offset, _)| usize::try_from(offset).ok());
    let start = offset.ok_or_else(missing)?;
    Ok(start..start + size)
}

fn header(cubin: &[u8]) -> Result<&Header, ReadError> {
    let header = Header::parse(cubin).map_err(file)?;
    match header.e_machine.get(ENDIAN) {
        EM_CUDA => Ok(header),
        _ => Err(file("not for a GPU of NVIDIA")),
    }
}

impl Module {
    /// Reads a cubin. Fails when it is damaged, for another [`Architecture`], or has an instruction outside the table.
    pub fn read(cubin: &[u8]) -> Result<Module, ReadError> {
        let (header, sm) = (header(cubin)?, sm_of(cubin)?);
        let Some(architecture) = Architecture::of(sm) else { return Err(ReadErrorKind::Architecture(sm).at("file")) };
        let mut module = File::new(cubin, header)?.module(architecture)?;
        module.architecture = sm;
        Ok(module)
    }
}

fn file(what: impl ToString) -> ReadError {
    damaged(what, "file")
}

/// A cubin with its sections and symbols parsed.
struct File<'a> {
    cubin: &'a [u8],
    sections: SectionTable<'a, Header>,
    symbols: SymbolTable<'a, Header>,
    names: Vec<&'a str>,
    by_name: HashMap<&'a str, usize>,
    /// Segments of the module, by the index of the section.
    segments: HashMap<usize, Segment>,
}

/// Reads the whole entries of a table.
fn entries<T: object::pod::Pod>(bytes: &[u8], read: impl Fn(&T) -> Entry) -> Option<Vec<Entry>> {
    let (entries, _) = object::pod::slice_from_bytes(bytes, bytes.len() / size_of::<T>()).ok()?;
    Some(entries.iter().map(read).collect())
}

struct Entry {
    kind: u32,
    /// Byte offset in the relocated section.
    offset: u64,
    symbol: u32,
    /// `None`: the addend is in place.
    addend: Option<i64>,
}

impl<'a> File<'a> {
    fn new(cubin: &'a [u8], header: &'a Header) -> Result<File<'a>, ReadError> {
        let sections = header.sections(ENDIAN, cubin).map_err(file)?;
        let symbols = sections.symbols(ENDIAN, cubin, object::elf::SHT_SYMTAB).map_err(file)?;
        // Names may share their ends, but not so much that reading them takes long.
        let mut left = cubin.len().saturating_mul(4);
        let mut spend = |bytes: usize| {
            left = left.checked_sub(bytes).ok_or_else(|| file("its sections overlap"))?;
            Ok(())
        };
        let mut names = Vec::new();
        for section in sections.iter() {
            let name = sections.section_name(ENDIAN, section).map_err(file)?;
            spend(name.len())?;
            let name = std::str::from_utf8(name).map_err(|_| file("a section's name is not text"))?;
            let data = section.data(ENDIAN, cubin);
            let data = data.map_err(|error| damaged(error, name))?;
            spend(data.len())?;
            names.push(name);
        }
        for symbol in symbols.iter() {
            spend(symbols.symbol_name(ENDIAN, symbol).map_err(file)?.len())?;
        }
        let by_name = names.iter().enumerate().map(|(at, &name)| (name, at)).collect();
        Ok(File { cubin, sections, symbols, names, by_name, segments: HashMap::new() })
    }

    fn section(&self, at: usize) -> Result<&'a Section, ReadError> {
        self.sections.section(SectionIndex(at)).map_err(file)
    }

    fn bytes(&self, at: usize) -> Result<&'a [u8], ReadError> {
        let data = self.section(at)?.data(ENDIAN, self.cubin);
        data.map_err(|error| damaged(error, self.names[at]))
    }

    /// Returns the contents of a section, empty if there is none.
    fn named(&self, name: &str) -> Result<&'a [u8], ReadError> {
        self.by_name.get(name).map_or(Ok(&[]), |&at| self.bytes(at))
    }

    /// Returns the size of a section without contents.
    fn size(&self, name: &str) -> Result<u64, ReadError> {
        let Some(&at) = self.by_name.get(name) else { return Ok(0) };
        Ok(self.section(at)?.sh_size.get(ENDIAN))
    }

    fn symbol_name(&self, symbol: &Sym64<LittleEndian>) -> Result<&'a str, ReadError> {
        let name = self.symbols.symbol_name(ENDIAN, symbol).map_err(file)?;
        std::str::from_utf8(name).map_err(|_| file("a symbol's name is not text"))
    }

    fn module(mut self, architecture: Architecture) -> Result<Module, ReadError> {
        let mut texts = Vec::new();
        for (at, name) in self.names.clone().into_iter().enumerate() {
            let Some(kernel) = name.strip_prefix(".text.") else { continue };
            let place = texts.len();
            self.segments.insert(at, Segment::Code(place));
            for (prefix, segment) in
                [(".nv.shared.", Segment::Shared(place)), (".nv.constant2.", Segment::Tables(place))]
            {
                if let Some(&at) = self.by_name.get(format!("{prefix}{kernel}").as_str()) {
                    self.segments.insert(at, segment);
                }
            }
            if self.by_name.get(name) != Some(&at) {
                return Err(damaged("two sections have this name", name));
            }
            texts.push((at, kernel));
        }
        for (name, segment) in [
            (".nv.global.init", Segment::Initialised),
            (".nv.global", Segment::Zeroed),
            (".nv.constant3", Segment::Constants),
            (".nv.constant4", Segment::Addresses),
        ] {
            if let Some(&at) = self.by_name.get(name) {
                self.segments.insert(at, segment);
            }
        }
        let mut functions: Vec<Vec<Function>> = vec![Vec::new(); texts.len()];
        let mut numbers = vec![None; texts.len()];
        let mut variables = Vec::new();
        for (number, symbol) in self.symbols.iter().enumerate() {
            let segment = self.segments.get(&usize::from(symbol.st_shndx.get(ENDIAN)));
            let (offset, size) = (symbol.st_value.get(ENDIAN), symbol.st_size.get(ENDIAN));
            match (symbol.st_type(), segment) {
                (STT_FUNC, Some(&Segment::Code(kernel))) => {
                    let name = self.symbol_name(symbol)?.to_owned();
                    let (Ok(address), Ok(size)) = (u32::try_from(offset), u32::try_from(size)) else {
                        return Err(damaged("a function is outside of its section", &name));
                    };
                    if name == texts[kernel].1 {
                        numbers[kernel] = Some(number as u32);
                    }
                    functions[kernel].push(Function { name, address, size });
                }
                (STT_OBJECT, Some(&segment)) => {
                    variables.push(Variable { name: self.symbol_name(symbol)?.to_owned(), segment, offset, size })
                }
                _ => {}
            }
        }
        let counts = info::counts(self.named(".nv.info")?);
        let mut kernels = Vec::new();
        for (place, functions) in functions.into_iter().enumerate() {
            let mut kernel = self.kernel(architecture, texts[place].0, texts[place].1, functions)?;
            if let Some(number) = numbers[place] {
                kernel.registers = counts.registers.get(&number).copied().unwrap_or(0);
                kernel.frame_bytes = counts.stack.get(&number).copied().unwrap_or(0);
            }
            kernels.push(kernel);
        }
        let relocations = self.relocations()?;
        lines::add(&self, &mut kernels)?;
        Ok(Module {
            architecture: architecture.sm(),
            kernels,
            initialised: self.named(".nv.global.init")?.to_vec(),
            zeroed_bytes: self.size(".nv.global")?,
            constants: self.named(".nv.constant3")?.to_vec(),
            addresses: self.named(".nv.constant4")?.to_vec(),
            variables,
            relocations,
        })
    }

    fn kernel(
        &self, architecture: Architecture, at: usize, name: &str, functions: Vec<Function>,
    ) -> Result<CubinKernel, ReadError> {
        let section = self.names[at];
        let (words, rest) = self.bytes(at)?.as_chunks::<16>();
        if !rest.is_empty() {
            return Err(damaged("its size is not a multiple of 16", section));
        }
        let mut instructions = Vec::with_capacity(words.len());
        for (i, word) in words.iter().enumerate() {
            let address = u32::try_from(i * 16).map_err(|_| damaged("it is too long", section))?;
            let instruction = decode(architecture, u128::from_le_bytes(*word), address);
            instructions.push(instruction.map_err(|error| ReadErrorKind::Decode(error).at(section))?);
        }
        let end = words.len() as i64 * 16;
        for instruction in &instructions {
            if let Some(target) = instruction.label()
                && (target < 0 || target >= end || target % 16 != 0)
            {
                let (address, operation) = (instruction.address, instruction.operation);
                return Err(ReadErrorKind::Label { address, operation, target }.at(section));
            }
        }
        let mut kernel = CubinKernel {
            name: name.to_owned(),
            instructions,
            functions,
            shared_bytes: self.size(&format!(".nv.shared.{name}"))?,
            barriers: (self.section(at)?.sh_flags.get(ENDIAN) >> 20) as u32 & 0x7f,
            tables: self.named(&format!(".nv.constant2.{name}"))?.to_vec(),
            ..CubinKernel::default()
        };
        info::describe(&mut kernel, self.named(&format!(".nv.info.{name}"))?, section)?;
        Ok(kernel)
    }

    fn relocations(&self) -> Result<Vec<Relocation>, ReadError> {
        let mut found = Vec::new();
        for (at, section) in self.sections.iter().enumerate() {
            let place = section.sh_info.get(ENDIAN) as usize;
            let Some(&segment) = self.segments.get(&place) else { continue };
            if !matches!(section.sh_type.get(ENDIAN), SHT_REL | SHT_RELA) {
                continue;
            }
            for entry in self.entries(at)? {
                let Entry { kind, offset, .. } = entry;
                let size = self.section(place)?.sh_size.get(ENDIAN);
                if !ADDRESSES.contains(&kind) || matches!(segment, Segment::Code(_)) {
                    return Err(ReadErrorKind::Relocation { kind, offset }.at(self.names[at]));
                }
                if offset.checked_add(8).is_none_or(|end| end > size) {
                    return Err(damaged("a relocation is outside of its section", self.names[at]));
                }
                found.push(Relocation {
                    segment,
                    offset,
                    target: self.target(&entry, at)?,
                    addend: entry.addend.unwrap_or_else(|| self.addend_in(place, offset)),
                });
            }
        }
        Ok(found)
    }

    /// Reads the eight bytes in a section that serve as the addend.
    fn addend_in(&self, section: usize, offset: u64) -> i64 {
        let bytes =
            usize::try_from(offset).ok().and_then(|offset| self.bytes(section).ok()?.get(offset..)?.first_chunk());
        // A section without contents has zeros.
        bytes.map_or(0, |bytes| i64::from_le_bytes(*bytes))
    }

    /// Reads the relocations of a section: compilers for GPUs before sm_90 leave the addends in place.
    fn entries(&self, at: usize) -> Result<Vec<Entry>, ReadError> {
        let bytes = self.bytes(at)?;
        let found = match self.section(at)?.sh_type.get(ENDIAN) {
            SHT_REL => entries(bytes, |entry: &Rel64<LittleEndian>| Entry {
                kind: entry.r_type(ENDIAN),
                offset: entry.r_offset.get(ENDIAN),
                symbol: entry.r_sym(ENDIAN),
                addend: None,
            }),
            _ => entries(bytes, |entry: &Rela64<LittleEndian>| Entry {
                kind: entry.r_type(ENDIAN, false),
                offset: entry.r_offset.get(ENDIAN),
                symbol: entry.r_sym(ENDIAN, false),
                addend: Some(entry.r_addend.get(ENDIAN)),
            }),
        };
        found.ok_or_else(|| damaged("it is cut off", self.names[at]))
    }

    fn symbol(&self, entry: &Entry, at: usize) -> Result<&'a Sym64<LittleEndian>, ReadError> {
        let index = object::read::SymbolIndex(entry.symbol as usize);
        let symbol = self.symbols.symbol(index);
        symbol.map_err(|_| damaged("a relocation has no symbol", self.names[at]))
    }

    fn target(&self, entry: &Entry, at: usize) -> Result<Target, ReadError> {
        let symbol = self.symbol(entry, at)?;
        let index = symbol.st_shndx.get(ENDIAN);
        if index == SHN_UNDEF || index == SHN_ABS {
            return Ok(Target::Outside(self.symbol_name(symbol)?.to_owned()));
        }
        let Some(&segment) = self.segments.get(&usize::from(index)) else {
            return Err(damaged("a relocation leads out of the module", self.names[at]));
        };
        Ok(Target::Inside { segment, offset: symbol.st_value.get(ENDIAN) })
    }

    /// Returns whether a section has contents, as those of debuggers must.
    fn is_data(&self, at: usize) -> bool {
        self.section(at).is_ok_and(|section| section.sh_type.get(ENDIAN) == SHT_PROGBITS)
    }
}
