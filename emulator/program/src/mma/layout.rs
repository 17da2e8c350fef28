//! Layout of the tiles of warp-wide products: the lane and register of each element.
//!
//! Lanes form eight groups of four. A group holds a row of A, a column of B and a row of D; its four lanes share the
//! elements along k, or the columns of D, one register's worth at a time. With E elements in a register, register r of
//! A holds row `group + 8 (r mod 2)` from `k = E·lane + 4 E·(r / 2)` on; of B it holds column `group` from `k = E·lane
//! + 4 E·r` on; and registers of D hold row `group`, columns `2·lane` and `2·lane + 1`, then row `group + 8`.

use std::fmt;

use arithmetic::products::{AccumulatorType, FactorType, Factors, Product, Unit, multiply_f64};

/// Shape and types of a warp-wide product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MmaForm {
    /// Rows of A and D: 8 or 16. B and D have 8 columns.
    m: u8,
    /// Columns of A and rows of B.
    k: u8,
    types: Types,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Types {
    /// Types of A, B and the accumulators.
    Small(FactorType, FactorType, AccumulatorType),
    F64,
}

/// Upper bound of a tile's rows.
const ROWS: usize = 16;

impl MmaForm {
    /// Form of an instruction, if the shape exists: `m`, `k`, and types of A, B and the accumulators (not `f64`).
    pub fn new(m: u8, k: u8, types: Option<(FactorType, FactorType, AccumulatorType)>) -> Option<Self> {
        let known = match types {
            Some(
                (FactorType::Bf16, FactorType::Bf16, AccumulatorType::F32) | (FactorType::F16, FactorType::F16, _),
            ) => m == 16 && matches!(k, 8 | 16),
            Some((FactorType::Tf32, FactorType::Tf32, AccumulatorType::F32)) => m == 16 && matches!(k, 4 | 8),
            Some((FactorType::E4m3 | FactorType::E5m2, FactorType::E4m3 | FactorType::E5m2, AccumulatorType::F32)) => {
                m == 16 && k == 32
            }
            Some(_) => false,
            None => matches!((m, k), (8, 4) | (16, 4 | 8 | 16)),
        };
        let types = types.map_or(Types::F64, |(a, b, sum)| Types::Small(a, b, sum));
        known.then_some(Self { m, k, types })
    }

    /// Returns whether the registers have 64 bits.
    pub fn is_wide(self) -> bool {
        self.types == Types::F64
    }

    /// Returns the number of element products.
    pub fn products(self) -> u64 {
        u64::from(self.m) * 8 * u64::from(self.k)
    }

    /// Returns the elements of A or B per register.
    fn packed(self) -> usize {
        match self.types {
            Types::Small(FactorType::Bf16 | FactorType::F16, ..) => 2,
            Types::Small(FactorType::E4m3 | FactorType::E5m2, ..) => 4,
            Types::Small(FactorType::Tf32, ..) | Types::F64 => 1,
        }
    }

    /// Accumulators per register.
    fn packed_sums(self) -> usize {
        match self.types {
            Types::Small(_, _, AccumulatorType::F16) => 2,
            _ => 1,
        }
    }

    /// Numbers of registers of A, B and the accumulators.
    pub fn registers(self) -> [usize; 3] {
        let along = usize::from(self.k) / (4 * self.packed());
        let down = usize::from(self.m) / 8;
        [along * down, along, 2 * down / self.packed_sums()]
    }

    /// Returns the row and first k of a register of A.
    pub fn in_a(self, lane: usize, register: usize) -> (usize, usize) {
        let down = usize::from(self.m) / 8;
        let k = self.packed() * (lane % 4 + 4 * (register / down));
        (lane / 4 + 8 * (register % down), k)
    }

    /// Column and first k of a register of B.
    pub fn in_b(self, lane: usize, register: usize) -> (usize, usize) {
        (lane / 4, self.packed() * (lane % 4 + 4 * register))
    }

    /// Returns the row and first column of a register of D.
    pub fn in_d(self, lane: usize, register: usize) -> (usize, usize) {
        let first = register * self.packed_sums();
        (lane / 4 + 8 * (first / 2), 2 * (lane % 4) + first % 2)
    }

    /// Computes D of a warp from its registers in order; `d` holds C before.
    pub fn multiply(self, a: &[[u32; 32]], b: &[[u32; 32]], d: &mut [[u32; 32]]) {
        match self.packed() {
            1 => self.multiply_packed::<1, 16, 8>(a, b, d),
            2 => self.multiply_packed::<2, 32, 16>(a, b, d),
            _ => self.multiply_packed::<4, 64, 32>(a, b, d),
        }
    }

    /// [`MmaForm::multiply`] with constants, so that elements are moved without computed shifts: the elements per
    /// register, and the sizes of A in groups of eight and of B in rows.
    fn multiply_packed<const PACKED: usize, const GROUPS: usize, const DEPTH: usize>(
        self,
        a: &[[u32; 32]],
        b: &[[u32; 32]],
        d: &mut [[u32; 32]],
    ) {
        let Types::Small(kind_a, kind_b, sum) = self.types else {
            return;
        };
        let (k, bits) = (usize::from(self.k), 32 / PACKED);
        let (groups, down) = (k.div_ceil(8), usize::from(self.m) / 8);
        let mut rows = [[0; 8]; GROUPS];
        for (register, values) in a.iter().enumerate() {
            let (above, before) = (8 * (register % down), 4 * PACKED * (register / down));
            for (group, four) in values.as_chunks::<4>().0.iter().enumerate() {
                let first = 8 * groups * (above + group) + before;
                let Some(row) = rows.as_flattened_mut().get_mut(first..first + 4 * PACKED) else { continue };
                for (value, row) in four.iter().zip(row.as_chunks_mut::<PACKED>().0) {
                    *row = std::array::from_fn(|i| value >> (bits * i));
                }
            }
        }
        let mut columns = [[0; 8]; DEPTH];
        for (values, columns) in b.iter().zip(columns.chunks_exact_mut(4 * PACKED)) {
            for (lane, columns) in columns.chunks_exact_mut(PACKED).enumerate() {
                for (i, column) in columns.iter_mut().enumerate() {
                    *column = std::array::from_fn(|group| values[4 * group + lane] >> (bits * i));
                }
            }
        }
        let (n_rows, n_columns) = (groups * usize::from(self.m), k);
        let product = |kind| Product::new(kind, sum, Unit::Warp);
        let mut row_factors = [Factors::ZERO; GROUPS];
        let mut column_factors = [Factors::ZERO; DEPTH];
        product(kind_a).decode(&rows[..n_rows], &mut row_factors);
        product(kind_b).decode(&columns[..n_columns], &mut column_factors);

        // A lane has neighbours in a row: in one register where they are packed, else in two.
        let mut sums = [[[0; 2]; 32]; ROWS / 8];
        let halves = self.packed_sums() == 2;
        if halves {
            for (sums, values) in sums.iter_mut().zip(&*d) {
                *sums = values.map(|value| [value & 0xffff, value >> 16]);
            }
        } else {
            for (sums, [low, high]) in sums.iter_mut().zip(d.as_chunks::<2>().0) {
                *sums = std::array::from_fn(|lane| [low[lane], high[lane]]);
            }
        }
        let used = &mut sums.as_flattened_mut().as_flattened_mut()[..8 * usize::from(self.m)];
        product(kind_a).multiply(&row_factors[..n_rows], &column_factors[..n_columns], k, used);
        if halves {
            for (sums, values) in sums.iter().zip(d) {
                *values = sums.map(|[low, high]| low | high << 16);
            }
        } else {
            for (sums, [low, high]) in sums.iter().zip(d.as_chunks_mut::<2>().0) {
                *low = sums.map(|sum| sum[0]);
                *high = sums.map(|sum| sum[1]);
            }
        }
    }

    /// [`MmaForm::multiply`] for `f64`.
    pub fn multiply_f64(self, a: &[[u64; 32]], b: &[[u64; 32]], d: &mut [[u64; 32]]) {
        let k = usize::from(self.k);
        let mut rows = vec![0.0; usize::from(self.m) * k];
        let mut columns = vec![0.0; 8 * k];
        let mut sums = vec![0.0; usize::from(self.m) * 8];
        let fill = |to: &mut [f64], from: &[[u64; 32]], at: &dyn Fn(usize, usize) -> usize| {
            for (register, values) in from.iter().enumerate() {
                for (lane, value) in values.iter().enumerate() {
                    to[at(lane, register)] = f64::from_bits(*value);
                }
            }
        };
        let in_d = |lane, register| {
            let (row, column) = self.in_d(lane, register);
            row * 8 + column
        };
        fill(&mut rows, a, &|lane, register| {
            let (row, at) = self.in_a(lane, register);
            row * k + at
        });
        fill(&mut columns, b, &|lane, register| {
            let (column, at) = self.in_b(lane, register);
            column * k + at
        });
        fill(&mut sums, d, &in_d);
        multiply_f64(&rows, &columns, k, &mut sums);
        for (register, values) in d.iter_mut().enumerate() {
            for (lane, value) in values.iter_mut().enumerate() {
                *value = sums[in_d(lane, register)].to_bits();
            }
        }
    }

    /// Returns the undefined bits of an accumulator to which `undefined` bits were added: all of its bits.
    pub fn whole_sums(self, undefined: u64) -> u64 {
        match self.types {
            _ if undefined == 0 => 0,
            Types::F64 => u64::MAX,
            Types::Small(_, _, AccumulatorType::F32) => u64::from(u32::MAX),
            Types::Small(_, _, AccumulatorType::F16) => {
                let half = |mask: u64| if undefined & mask == 0 { 0 } else { mask };
                half(0xffff) | half(0xffff_0000)
            }
        }
    }

    /// Returns the lanes of a register of D that depend on undefined lanes of A's and B's registers.
    ///
    /// An undefined element of A makes its row of D undefined, one of B its column: all bits of those accumulators.
    pub fn reached(self, a: &[u32], b: &[u32], register: usize) -> [Reached; 32] {
        let (mut rows, mut columns) = ([None; ROWS], [None; 8]);
        for (register, lanes) in a.iter().enumerate() {
            for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
                rows[self.in_a(lane, register).0] = Some((register, lane));
            }
        }
        for (register, lanes) in b.iter().enumerate() {
            for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
                columns[self.in_b(lane, register).0] = Some((register, lane));
            }
        }
        std::array::from_fn(|lane| {
            let (row, column) = self.in_d(lane, register);
            let both = columns[column].or(columns[column | (self.packed_sums() - 1)]);
            let half = |column: usize| columns[column].is_some() || rows[row].is_some();
            let undefined = match (self.types, half(column)) {
                (Types::F64, true) => u64::MAX,
                (Types::Small(_, _, AccumulatorType::F32), true) => u64::from(u32::MAX),
                (Types::Small(_, _, AccumulatorType::F16), low) => {
                    (u64::from(low) * 0xffff) | (u64::from(half(column + 1)) * 0xffff_0000)
                }
                _ => 0,
            };
            Reached { undefined, a: rows[row], b: both }
        })
    }
}

/// Origin of an undefined accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    pub undefined: u64,
    /// Register of A, and its lane.
    pub a: Option<(usize, usize)>,
    /// Register of B, and its lane.
    pub b: Option<(usize, usize)>,
}

impl fmt::Display for MmaForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mma m{}n8k{} ", self.m, self.k)?;
        match self.types {
            Types::Small(a, b, sum) => write!(f, "{a:?} {b:?} {sum:?}"),
            Types::F64 => write!(f, "F64"),
        }
    }
}
