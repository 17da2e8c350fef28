//! The 16 rows of a product that a warp computes.

use arithmetic::lanes::Line;
use arithmetic::products::{AccumulatorType, FactorType, Factors, Product, Unit};
use program::Wgmma;
use program::mma::warpgroup::{self, Descriptor, PIECE, WARP_ROWS};

use crate::exec::{block::warpgroups::WarpPart, worker::Worker};

/// Bytes of all k of a row.
const ROW: usize = 32;

/// B of a product, which its four warps share: decoded by the first of them that multiplies.
#[derive(Default)]
pub(super) struct DecodedB {
    /// The instruction and the descriptor that `factors` are of.
    source: Option<(u32, u64)>,
    factors: Vec<Factors>,
}

impl DecodedB {
    fn factors(&mut self, wgmma: &Wgmma, part: &WarpPart, rule: FactorType, shared: &SharedBytes) -> &[Factors] {
        let source = Some((part.pc, part.descriptors[1]));
        if self.source != source {
            let (n, k) = (usize::from(wgmma.n), wgmma.k());
            let descriptor = Descriptor::decode(part.descriptors[1]);
            let columns = rows_of(shared, &descriptor, wgmma.transposed[1], 0, n);
            let mut eights = Vec::with_capacity(n / 8 * k);
            for eight in columns.as_chunks::<8>().0 {
                let eight = eight.map(|column| elements(wgmma.kinds[1], &column));
                eights.extend((0..k).map(|at| eight.map(|column| column[at])));
            }
            *self = Self { source, factors: factors(wgmma, 1, rule, eights) };
        }
        &self.factors
    }
}

impl Worker<'_> {
    pub(super) fn multiply(&mut self, wgmma: &Wgmma, part: &WarpPart, first_warp: u32, own: usize, b: &mut DecodedB) {
        let n = usize::from(wgmma.n);
        let k = wgmma.k();
        let shared = self.shared_bytes_now();
        let rule_kind = match wgmma.kinds {
            [one, other] if one == other => one,
            _ => FactorType::E4m3,
        };
        let product = Product::new(rule_kind, wgmma.sum, Unit::Warpgroup);
        let rows: Vec<[u8; ROW]> = match &part.a {
            Some(registers) => rows_of_registers(registers),
            None => {
                let descriptor = Descriptor::decode(part.descriptors[0]);
                let first = (own * WARP_ROWS) as u32;
                rows_of(&shared, &descriptor, wgmma.transposed[0], first, WARP_ROWS)
            }
        };
        let mut eights = Vec::with_capacity(rows.len() * k / 8);
        for row in &rows {
            let row = elements(wgmma.kinds[0], row);
            eights.extend(row[..k].as_chunks::<8>().0);
        }
        let a = factors(wgmma, 0, rule_kind, eights);
        let b = b.factors(wgmma, part, rule_kind, &shared);
        let mut d = vec![0; WARP_ROWS * n];
        let regs = self.block.regs_of(self.job, first_warp as usize + own);
        let line = |line: u32| -> *mut Line { regs.wrapping_add(line as usize) };
        // Two neighbouring elements of each pair.
        let pairs = match wgmma.sum {
            AccumulatorType::F32 => wgmma.d.len() / 2,
            AccumulatorType::F16 => wgmma.d.len(),
        };
        if part.adds {
            for pair in 0..pairs {
                for lane in 0..32 {
                    let (row, column) = warpgroup::accumulator(lane, pair);
                    let index = row * n + column;
                    // SAFETY: `decode::passes::validate` has found the lines to be those of the warp's registers.
                    unsafe {
                        match wgmma.sum {
                            AccumulatorType::F32 => {
                                d[index] = (*line(wgmma.d[2 * pair])).0[lane];
                                d[index + 1] = (*line(wgmma.d[2 * pair + 1])).0[lane];
                            }
                            AccumulatorType::F16 => {
                                let both = (*line(wgmma.d[pair])).0[lane];
                                (d[index], d[index + 1]) = (both & 0xffff, both >> 16);
                            }
                        }
                    }
                }
            }
        }
        product.multiply(&a, b, k, &mut d);
        let put = |to: u32, lane: usize, value: u32| {
            if !part.lost.contains(&to) {
                // SAFETY: `decode::passes::validate` has found the lines to be those of the warp's registers.
                unsafe { (*line(to)).0[lane] = value };
            }
        };
        for pair in 0..pairs {
            for lane in part.active.iter() {
                let (row, column) = warpgroup::accumulator(lane, pair);
                let index = row * n + column;
                match wgmma.sum {
                    AccumulatorType::F32 => {
                        put(wgmma.d[2 * pair], lane, d[index]);
                        put(wgmma.d[2 * pair + 1], lane, d[index + 1]);
                    }
                    AccumulatorType::F16 => put(wgmma.d[pair], lane, d[index] & 0xffff | d[index + 1] << 16),
                }
            }
        }
    }

    pub(super) fn shared_bytes_now(&mut self) -> SharedBytes {
        SharedBytes { start: self.block.shared_start(), bytes: self.job.shared_bytes }
    }
}

/// The shared memory of the running block.
pub(super) struct SharedBytes {
    start: *const u8,
    bytes: u32,
}

impl SharedBytes {
    /// Returns the sixteen bytes at an offset; zeros outside.
    pub(super) fn piece(&self, offset: u32) -> [u8; PIECE as usize] {
        if offset.checked_add(PIECE).is_none_or(|end| end > self.bytes) {
            return [0; PIECE as usize];
        }
        // SAFETY: the block's shared memory has so many bytes, and only this worker writes it.
        unsafe { self.start.add(offset as usize).cast::<[u8; PIECE as usize]>().read() }
    }
}

fn rows_of(shared: &SharedBytes, descriptor: &Descriptor, transposed: bool, first: u32, n: usize) -> Vec<[u8; ROW]> {
    let mut rows = vec![[0; ROW]; n];
    if !transposed {
        for (row, to) in (first..).zip(&mut rows) {
            let [left, right] = [0, 1].map(|piece| shared.piece(descriptor.k_major(row, piece)));
            to[..16].copy_from_slice(&left);
            to[16..].copy_from_slice(&right);
        }
        return rows;
    }
    for (group, rows) in (first / 8..).zip(rows.chunks_mut(8)) {
        for k in 0..ROW / 2 {
            let piece = shared.piece(descriptor.mn_major(k as u32, group));
            for (row, element) in rows.iter_mut().zip(piece.chunks_exact(2)) {
                row[2 * k..2 * k + 2].copy_from_slice(element);
            }
        }
    }
    rows
}

fn rows_of_registers(registers: &[[u32; 32]; 4]) -> Vec<[u8; ROW]> {
    let mut rows = vec![[0; ROW]; WARP_ROWS];
    for (register, line) in registers.iter().enumerate() {
        for (lane, value) in line.iter().enumerate() {
            let (row, byte) = warpgroup::a_register(lane, register);
            rows[row][byte..byte + 4].copy_from_slice(&value.to_le_bytes());
        }
    }
    rows
}

/// Returns the bits of each element of a row; rows of wide elements have fewer.
fn elements(kind: FactorType, row: &[u8; ROW]) -> [u32; ROW] {
    let mut bits = [0; ROW];
    match warpgroup::element_bytes(kind) {
        1 => bits = row.map(u32::from),
        2 => {
            let pairs = row.as_chunks::<2>().0.iter();
            bits.iter_mut().zip(pairs).for_each(|(to, pair)| *to = u16::from_le_bytes(*pair).into());
        }
        _ => {
            let words = row.as_chunks::<4>().0.iter();
            bits.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
        }
    }
    bits
}

/// Returns the elements of A (0) or B (1), as `rule` takes them.
fn factors(wgmma: &Wgmma, factor: usize, rule: FactorType, mut bits: Vec<[u32; 8]>) -> Vec<Factors> {
    let kind = wgmma.kinds[factor];
    if wgmma.minus[factor] {
        let sign = 1 << (8 * warpgroup::element_bytes(kind) - 1);
        bits.iter_mut().flatten().for_each(|bits| *bits ^= sign);
    }
    let mut factors = vec![Factors::ZERO; bits.len()];
    Product::new(kind, AccumulatorType::F32, Unit::Warpgroup).decode(&bits, &mut factors);
    if kind != rule {
        factors.iter_mut().for_each(Factors::widen);
    }
    factors
}
