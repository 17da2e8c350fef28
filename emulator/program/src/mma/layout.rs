//! Layout of the tiles of warp-wide products: the lane and register of each element.
//!
//! Lanes form eight groups of four. A group holds a row of A, a column of B and a row of D; its four lanes share the
//! elements along k, or the columns of D, one register's worth at a time. With E elements in a register, register r of
//! A holds row `group + 8 (r mod 2)` from `k = E·lane + 4 E·(r / 2)` on; of B it holds column `group` from `k = E·lane
//! + 4 E·r` on; and registers of D hold row `group`, columns `2·lane` and `2·lane + 1`, then row `group + 8`.

//!
//! A sparse A has half of its elements: two of each chunk of four (of 4-bit elements: two pairs of four, of TF32 one of
//! two), and its registers hold these as if they were a row of half the length. For each chunk of a row, four bits of
//! metadata have the two places. Of a group's lanes, as many as are needed hold the metadata of its rows `group` and
//! `group + 8`: four chunks of both rows each, or of elements of 4 and 8 bits eight chunks of one of the rows. The
//! sparsity selector chooses these lanes.

use arithmetic::products::{AccumulatorType, FactorType, Factors, Product, Round, Unit, Whole, multiply_f64};

/// Shape and types of a warp-wide product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MmaForm {
    /// Rows of A and D: 8 or 16. B and D have 8 columns.
    m: u8,
    /// Columns of A and rows of B.
    k: u16,
    types: Types,
    /// Sparsity selector, if A is sparse.
    selector: Option<u8>,
}

/// Types of a product, and how it adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Types {
    /// Types of A, B and the accumulators.
    Small(FactorType, FactorType, AccumulatorType),
    F64(Round),
    /// Integers or single bits, and 32-bit accumulators.
    Whole(Whole),
}

/// Upper bound of a tile's rows.
const ROWS: usize = 16;

impl MmaForm {
    /// Returns the form of an instruction, if the shape exists. A sparse A has a sparsity selector.
    pub fn new(m: u8, k: u16, types: Types, selector: Option<u8>) -> Option<Self> {
        use FactorType::{Bf16, E4m3, E5m2, F16, Tf32};
        let form = Self { m, k, types, selector };
        // Bits of a row of A in registers.
        let row = 32 / form.packed() * form.stored();
        let known = match types {
            Types::F64(_) => return form.dense().filter(|_| matches!((m, k), (8, 4) | (16, 4 | 8 | 16))),
            Types::Whole(Whole::Integers(..)) if selector.is_some() => m == 16,
            Types::Whole(_) => m == 16 || m == 8 && row == 128,
            Types::Small(F16, F16, _) => m == 16,
            Types::Small(Bf16, Bf16, AccumulatorType::F32) | Types::Small(Tf32, Tf32, AccumulatorType::F32) => m == 16,
            Types::Small(E4m3 | E5m2, E4m3 | E5m2, AccumulatorType::F32) if selector.is_some() => m == 16 && row == 256,
            Types::Small(E4m3 | E5m2, E4m3 | E5m2, _) => m == 16 && selector.is_none(),
            Types::Small(..) => false,
        };
        let selected = selector.is_none_or(|selector| usize::from(selector) < 4 / form.holders().max(1));
        (known && selected && matches!(row, 128 | 256)).then_some(form)
    }

    fn dense(self) -> Option<Self> {
        self.selector.is_none().then_some(self)
    }

    /// Returns whether A is sparse, and the product takes metadata.
    pub fn is_sparse(self) -> bool {
        self.selector.is_some()
    }

    /// Returns whether the registers have 64 bits.
    pub fn is_wide(self) -> bool {
        matches!(self.types, Types::F64(_))
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
            Types::Whole(Whole::Integers(kind, ..)) => 32 / kind.bits(),
            Types::Whole(_) | Types::Small(FactorType::Tf32, ..) | Types::F64(_) => 1,
        }
    }

    /// Elements along k that are multiplied one by one: single bits are not.
    fn depth(self) -> usize {
        usize::from(self.k) / if matches!(self.types, Types::Whole(Whole::Xor | Whole::And)) { 32 } else { 1 }
    }

    /// Elements of a row of A in registers.
    fn stored(self) -> usize {
        self.depth() / if self.is_sparse() { 2 } else { 1 }
    }

    /// Elements in registers of a chunk, which has two places in the metadata.
    fn of_chunk(self) -> usize {
        match self.packed() {
            1 => 1,
            8 => 4,
            _ => 2,
        }
    }

    /// Lanes of a group that hold metadata.
    fn holders(self) -> usize {
        self.stored() / self.of_chunk() / 4
    }

    /// Returns the lane that has the places of a chunk, and their first bit.
    fn in_metadata(self, row: usize, chunk: usize) -> (usize, usize) {
        let first = 4 * (row % 8) + usize::from(self.selector.unwrap_or(0)) * self.holders();
        match self.packed() {
            1 | 2 => (first + chunk / 4, 4 * (chunk % 4) + 16 * (row / 8)),
            _ => (first + chunk / 8 * 2 + row / 8, 4 * (chunk % 8)),
        }
    }

    /// Returns the k of an element in registers of a row of A.
    fn chosen(self, metadata: Option<&[u32; 32]>, row: usize, element: usize) -> usize {
        let Some(metadata) = metadata else { return element };
        let (chunk, within) = (element / self.of_chunk(), element % self.of_chunk());
        let (lane, bit) = self.in_metadata(row, chunk);
        let places = metadata[lane & 31] >> bit;
        let place = |i: usize| (places >> (2 * i) & 3) as usize;
        match self.of_chunk() {
            1 => 2 * chunk + place(0) / 2,
            2 => 4 * chunk + place(within),
            _ => 8 * chunk + 2 * place(within / 2) + within % 2,
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
        let [along_a, along_b] = [self.stored(), self.depth()].map(|elements| elements / (4 * self.packed()));
        let down = usize::from(self.m) / 8;
        [along_a * down, along_b, 2 * down / self.packed_sums()]
    }

    /// Returns the row and first k of a register of A.
    pub fn in_a(self, lane: usize, register: usize) -> (usize, usize) {
        let down = usize::from(self.m) / 8;
        let k = self.packed() * (lane % 4 + 4 * (register / down));
        (lane / 4 + 8 * (register % down), k)
    }

    /// Returns the column and first k of a register of B.
    pub fn in_b(self, lane: usize, register: usize) -> (usize, usize) {
        (lane / 4, self.packed() * (lane % 4 + 4 * register))
    }

    /// Returns the row and first column of a register of D.
    pub fn in_d(self, lane: usize, register: usize) -> (usize, usize) {
        let first = register * self.packed_sums();
        (lane / 4 + 8 * (first / 2), 2 * (lane % 4) + first % 2)
    }

    /// Computes D of a warp from its registers in order; `d` holds C before.
    pub fn multiply(self, a: &[[u32; 32]], b: &[[u32; 32]], d: &mut [[u32; 32]], metadata: Option<&[u32; 32]>) {
        match self.packed() {
            _ if self.is_sparse() || matches!(self.types, Types::Whole(_)) => self.multiply_each(a, b, d, metadata),
            1 => self.multiply_packed::<1, 16, 8>(a, b, d),
            2 => self.multiply_packed::<2, 32, 16>(a, b, d),
            _ => self.multiply_packed::<4, 64, 32>(a, b, d),
        }
    }

    /// Multiplies as [`MmaForm::multiply`] with constant sizes, so that elements are moved without computed shifts.
    fn multiply_packed<const PACKED: usize, const GROUPS: usize, const DEPTH: usize>(
        self, a: &[[u32; 32]], b: &[[u32; 32]], d: &mut [[u32; 32]],
    ) {
        let Types::Small(kind_a, kind_b, sum) = self.types else { return };
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

    /// Multiplies integers, and by a sparse A: each row of A chooses rows of B.
    fn multiply_each(self, a: &[[u32; 32]], b: &[[u32; 32]], d: &mut [[u32; 32]], metadata: Option<&[u32; 32]>) {
        let (stored, packed) = (self.stored(), self.packed());
        let bits = 32 / packed as u32;
        let mut rows = vec![0; usize::from(self.m) * stored];
        let mut columns = vec![[0; 8]; self.depth()];
        for lane in 0..32 {
            for i in 0..packed {
                let of = |value: &[u32; 32]| value[lane] >> (bits * i as u32);
                for (register, values) in a.iter().enumerate() {
                    let (row, first) = self.in_a(lane, register);
                    rows[row * stored + first + i] = of(values);
                }
                for (register, values) in b.iter().enumerate() {
                    let (column, first) = self.in_b(lane, register);
                    columns[first + i][column] = of(values);
                }
            }
        }
        let mut factors = [Vec::new(), Vec::new()];
        match self.types {
            Types::Whole(whole) => {
                whole.decode(0, &mut rows);
                whole.decode(1, columns.as_flattened_mut());
            }
            Types::Small(kind_a, kind_b, sum) => {
                let groups: Vec<[u32; 8]> = rows
                    .chunks(stored)
                    .flat_map(|row| row.chunks(8).map(|group| std::array::from_fn(|i| *group.get(i).unwrap_or(&0))))
                    .collect();
                for ((kind, bits), to) in [(kind_a, &groups), (kind_b, &columns)].into_iter().zip(&mut factors) {
                    to.resize(bits.len(), Factors::ZERO);
                    Product::new(kind, sum, Unit::Warp).decode(bits, to);
                }
            }
            Types::F64(_) => return,
        }
        let halves = self.packed_sums();
        let mask = u32::MAX >> (32 - 32 / halves);
        for (row, a) in rows.chunks(stored).enumerate() {
            let chosen = (0..stored).map(|element| self.chosen(metadata, row, element));
            // Register, lane and first bit of each accumulator of the row.
            let places: [(usize, usize, usize); 8] = std::array::from_fn(|column| {
                let first = 2 * (row / 8) + column % 2;
                (first / halves, 4 * (row % 8) + column / 2, 16 * (first % halves))
            });
            let mut sums = places.map(|(register, lane, bit)| d[register][lane] >> bit & mask);
            match self.types {
                Types::Small(kind, _, sum) => {
                    let [a, b] = &factors;
                    let groups = stored.div_ceil(8);
                    let chosen: Vec<Factors> = chosen.map(|k| b[k]).collect();
                    let a = &a[groups * row..groups * (row + 1)];
                    Product::new(kind, sum, Unit::Warp).multiply(a, &chosen, stored, &mut sums);
                }
                Types::Whole(whole) => {
                    let added = whole.sum(a, chosen.map(|k| &columns[k]));
                    sums.iter_mut().zip(added).for_each(|(sum, added)| *sum = whole.add(*sum, added));
                }
                Types::F64(_) => {}
            }
            for ((register, lane, bit), sum) in places.into_iter().zip(sums) {
                d[register][lane] = d[register][lane] & !(mask << bit) | sum << bit;
            }
        }
    }

    /// Multiplies as [`MmaForm::multiply`] does, for `f64`.
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
        let Types::F64(round) = self.types else { return };
        multiply_f64(&rows, &columns, k, &mut sums, round);
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
            Types::F64(_) => u64::MAX,
            Types::Small(_, _, AccumulatorType::F16) => {
                let half = |mask: u64| if undefined & mask == 0 { 0 } else { mask };
                half(0xffff) | half(0xffff_0000)
            }
            Types::Small(..) | Types::Whole(_) => u64::from(u32::MAX),
        }
    }

    /// Returns the lanes of a register of D that depend on undefined lanes of A's and B's registers.
    ///
    /// An undefined element of A makes its row of D undefined, one of B its column: all bits of those accumulators. Of
    /// a sparse product, undefined metadata makes its rows undefined, and an element of B only those that choose it.
    pub fn reached(self, undefined: &UndefinedLanes<'_>, register: usize) -> [Reached; 32] {
        let (mut rows, mut cells) = ([None; ROWS], [[None; 8]; ROWS]);
        let lanes_of = |lanes: u32| (0..32).filter(move |lane| lanes >> lane & 1 == 1);
        for (register, &lanes) in undefined.a.iter().enumerate() {
            lanes_of(lanes).for_each(|lane| rows[self.in_a(lane, register).0] = Some((register, lane)));
        }
        if undefined.metadata != 0 {
            for (row, reached) in rows.iter_mut().enumerate() {
                let mut holders = (0..self.stored() / self.of_chunk()).map(|chunk| self.in_metadata(row, chunk).0);
                let holder = holders.find(|lane| undefined.metadata >> lane & 1 == 1);
                *reached = holder.map(|lane| (undefined.a.len(), lane)).or(*reached);
            }
        }
        for (register, &lanes) in undefined.b.iter().enumerate() {
            for lane in lanes_of(lanes) {
                let (column, first) = self.in_b(lane, register);
                let held = first..first + self.packed();
                let chooses = |row: usize| {
                    undefined.values.is_none()
                        || (0..self.stored()).any(|element| held.contains(&self.chosen(undefined.values, row, element)))
                };
                for (_, cells) in cells.iter_mut().enumerate().filter(|(row, _)| chooses(*row)) {
                    cells[column] = Some((register, lane));
                }
            }
        }
        std::array::from_fn(|lane| {
            let (row, column) = self.in_d(lane, register);
            let columns = &cells[row];
            let both = columns[column].or(columns[column | (self.packed_sums() - 1)]);
            let half = |column: usize| columns[column].is_some() || rows[row].is_some();
            let bits = match self.types {
                Types::Small(_, _, AccumulatorType::F16) => {
                    (u64::from(half(column)) * 0xffff) | (u64::from(half(column + 1)) * 0xffff_0000)
                }
                _ => self.whole_sums(u64::from(half(column))),
            };
            Reached { undefined: bits, a: rows[row], b: both }
        })
    }
}

/// Lanes in which registers of a product have undefined bits.
#[derive(Debug, Clone, Copy)]
pub struct UndefinedLanes<'a> {
    /// Lanes of each register of A.
    pub a: &'a [u32],
    /// Lanes of each register of B.
    pub b: &'a [u32],
    pub metadata: u32,
    /// What the metadata is, if A is sparse.
    pub values: Option<&'a [u32; 32]>,
}

/// Origin of an undefined accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    pub undefined: u64,
    /// Register of A, or after these the metadata, and its lane.
    pub a: Option<(usize, usize)>,
    /// Register of B, and its lane.
    pub b: Option<(usize, usize)>,
}
