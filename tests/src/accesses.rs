//! Small kernels with one kind of memory access each, to compare counters with those of a real GPU.
//!
//! [`module`] is their PTX. Every kernel takes the address of [`BYTES`] zero bytes and is launched once, as one block
//! of 32 threads. `tests/examples/accesses_on_device.rs` launches them, under Nsight Compute for the answers.

use std::fmt::Write as _;

/// Size of the buffer that every kernel takes.
pub const BYTES: usize = 1 << 20;
/// Threads of the one block.
pub const BLOCK: u32 = 32;

/// One of the kernels.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Entry point: group, operation and pattern.
    pub name: String,
    body: String,
}

/// Which element each lane accesses: `(lane * times >> shift & mask) * step + start`, for the lanes of `lanes`.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    name: &'static str,
    times: u32,
    shift: u32,
    mask: u32,
    step: u32,
    start: u32,
    lanes: u32,
}

const fn on(name: &'static str, times: u32, shift: u32, mask: u32, step: u32) -> Pattern {
    Pattern {
        name,
        times,
        shift,
        mask,
        step,
        start: 0,
        lanes: u32::MAX,
    }
}

const fn lanes(pattern: Pattern, name: &'static str, lanes: u32) -> Pattern {
    Pattern {
        name,
        lanes,
        ..pattern
    }
}

const LINEAR: Pattern = on("linear", 1, 0, 31, 1);
const ONE: Pattern = on("one", 1, 5, 31, 1);
const TWO: Pattern = on("two", 1, 0, 1, 1);
const FOUR: Pattern = on("four", 1, 0, 3, 1);
const EIGHT: Pattern = on("eight", 1, 0, 7, 1);
const SIXTEEN: Pattern = on("sixteen", 1, 0, 15, 1);
const HALVES: Pattern = on("halves", 1, 4, 1, 1);
const QUARTERS: Pattern = on("quarters", 1, 3, 3, 1);
const PAIRS: Pattern = on("pairs", 1, 1, 15, 1);
const FOURS: Pattern = on("fours", 1, 2, 7, 1);
const STRIDE_2: Pattern = on("stride2", 1, 0, 31, 2);
const STRIDE_8: Pattern = on("stride8", 1, 0, 31, 8);
const STRIDE_32: Pattern = on("stride32", 1, 0, 31, 32);
const STRIDE_33: Pattern = on("stride33", 1, 0, 31, 33);
const TWO_FAR: Pattern = on("two_far", 1, 0, 1, 32);
const FOUR_FAR: Pattern = on("four_far", 1, 0, 3, 32);
const EIGHT_SECTORS: Pattern = on("eight_sectors", 1, 0, 7, 8);
const SHUFFLED: Pattern = on("shuffled", 11, 0, 31, 1);
const RANDOM_8: Pattern = on("random8", 2_654_435_761, 27, 7, 1);
const RANDOM_32: Pattern = on("random32", 2_654_435_761, 25, 31, 1);
const RANDOM_1024: Pattern = on("random1024", 2_654_435_761, 20, 1023, 1);
const UNEVEN: Pattern = on("uneven", 43, 6, 31, 1);
const ONE_LANE: Pattern = lanes(LINEAR, "one_lane", 1 << 9);
const HALF_ON: Pattern = lanes(LINEAR, "half_on", 0xFFFF);
const ODD_ON: Pattern = lanes(LINEAR, "odd_on", 0xAAAA_AAAA);
const HALF_ONE: Pattern = lanes(ONE, "half_on_one", 0xFFFF);
const SOME_ONE: Pattern = lanes(ONE, "seven_on_one", 0x1122_4409);
const SHIFTED: Pattern = Pattern {
    name: "shifted",
    start: 3,
    ..LINEAR
};

/// Every distribution that costs could depend on.
const ALL: &[Pattern] = &[
    LINEAR,
    ONE,
    TWO,
    FOUR,
    EIGHT,
    SIXTEEN,
    HALVES,
    QUARTERS,
    PAIRS,
    FOURS,
    STRIDE_2,
    STRIDE_8,
    STRIDE_32,
    TWO_FAR,
    FOUR_FAR,
    EIGHT_SECTORS,
    SHUFFLED,
    RANDOM_8,
    RANDOM_32,
    RANDOM_1024,
    UNEVEN,
    ONE_LANE,
    HALF_ON,
    ODD_ON,
    HALF_ONE,
    SOME_ONE,
    SHIFTED,
];
const MANY: &[Pattern] = &[
    LINEAR,
    ONE,
    TWO,
    EIGHT,
    HALVES,
    PAIRS,
    STRIDE_2,
    STRIDE_8,
    TWO_FAR,
    RANDOM_32,
    RANDOM_1024,
    HALF_ON,
    SHIFTED,
];
const SOME: &[Pattern] = &[LINEAR, ONE, FOUR, PAIRS, STRIDE_32, RANDOM_32];
const FEW: &[Pattern] = &[LINEAR, ONE, PAIRS];
const BANKS: &[Pattern] = &[
    LINEAR,
    ONE,
    TWO,
    EIGHT,
    HALVES,
    PAIRS,
    STRIDE_2,
    STRIDE_32,
    STRIDE_33,
    TWO_FAR,
    FOUR_FAR,
    RANDOM_8,
    RANDOM_32,
    RANDOM_1024,
    UNEVEN,
    HALF_ON,
    SOME_ONE,
];

/// Instructions with `{a}` for the address, their element's size and their patterns.
type Row = (&'static str, &'static str, u32, &'static [Pattern]);

const GLOBAL_ATOMICS: &[Row] = &[
    ("red_add_u32", "red.global.add.u32 [{a}], %v;", 4, ALL),
    (
        "atom_add_u32",
        "atom.global.add.u32 %r1, [{a}], %v; st.global.u32 [%out], %r1;",
        4,
        MANY,
    ),
    ("red_add_f32", "red.global.add.f32 [{a}], %f0;", 4, SOME),
    ("red_add_u64", "red.global.add.u64 [{a}], %w;", 8, MANY),
    (
        "atom_cas_b32",
        "atom.global.cas.b32 %r1, [{a}], 0, %v; st.global.u32 [%out], %r1;",
        4,
        SOME,
    ),
    (
        "atom_exch_b32",
        "atom.global.exch.b32 %r1, [{a}], %v; st.global.u32 [%out], %r1;",
        4,
        SOME,
    ),
    ("red_max_s32", "red.global.max.s32 [{a}], %v;", 4, FEW),
    ("red_inc_u32", "red.global.inc.u32 [{a}], %v;", 4, FEW),
    ("red_add_f64", "red.global.add.f64 [{a}], %d0;", 8, SOME),
    ("red_add_f16x2", "red.global.add.noftz.f16x2 [{a}], %v;", 4, FEW),
    ("red_add_f16", "red.global.add.noftz.f16 [{a}], %h0;", 2, FEW),
    (
        "atom_add_u64",
        "atom.global.add.u64 %x1, [{a}], %w; st.global.u32 [%out], %x1;",
        8,
        FEW,
    ),
    (
        "atom_add_f32",
        "atom.global.add.f32 %f1, [{a}], %f0; st.global.f32 [%out], %f1;",
        4,
        FEW,
    ),
    (
        "atom_cas_b64",
        "atom.global.cas.b64 %x1, [{a}], 0, %w; st.global.u32 [%out], %x1;",
        8,
        FEW,
    ),
    ("red_max_u64", "red.global.max.u64 [{a}], %w;", 8, FEW),
];

const SHARED_ATOMICS: &[Row] = &[
    ("red_add_u32", "red.shared.add.u32 [{a}], %v;", 4, BANKS),
    (
        "atom_add_u32",
        "atom.shared.add.u32 %r1, [{a}], %v; st.global.u32 [%out], %r1;",
        4,
        SOME,
    ),
    (
        "atom_cas_b32",
        "atom.shared.cas.b32 %r1, [{a}], 0, %v; st.global.u32 [%out], %r1;",
        4,
        SOME,
    ),
    (
        "atom_exch_b32",
        "atom.shared.exch.b32 %r1, [{a}], %v; st.global.u32 [%out], %r1;",
        4,
        SOME,
    ),
    ("red_max_s32", "red.shared.max.s32 [{a}], %v;", 4, FEW),
    ("red_and_b32", "red.shared.and.b32 [{a}], %v;", 4, FEW),
    ("red_inc_u32", "red.shared.inc.u32 [{a}], %v;", 4, FEW),
    ("red_add_f32", "red.shared.add.f32 [{a}], %f0;", 4, SOME),
    ("red_add_u64", "red.shared.add.u64 [{a}], %w;", 8, SOME),
    (
        "atom_cas_b64",
        "atom.shared.cas.b64 %x1, [{a}], 0, %w; st.global.u32 [%out], %x1;",
        8,
        SOME,
    ),
    (
        "atom_exch_b64",
        "atom.shared.exch.b64 %x1, [{a}], %w; st.global.u32 [%out], %x1;",
        8,
        FEW,
    ),
    ("red_add_f64", "red.shared.add.f64 [{a}], %d0;", 8, FEW),
    ("red_add_f16x2", "red.shared.add.noftz.f16x2 [{a}], %v;", 4, FEW),
    ("red_max_u64", "red.shared.max.u64 [{a}], %w;", 8, FEW),
];

/// Whole bodies: stores and loads that ptxas may join, asynchronous copies, and what does not fit elsewhere.
const BODIES: &[(&str, &str, &str)] = &[
    // Neighbouring stores to shared memory.
    (
        "merge",
        "st_4",
        "st.shared.u32 [%s64], %v; st.shared.u32 [%s64+4], %lane; st.shared.u32 [%s64+8], %n; st.shared.u32 [%s64+12], %v;",
    ),
    (
        "merge",
        "st_4_back",
        "st.shared.u32 [%s64+12], %v; st.shared.u32 [%s64+8], %lane; st.shared.u32 [%s64+4], %n; st.shared.u32 [%s64], %v;",
    ),
    (
        "merge",
        "st_3",
        "st.shared.u32 [%s64], %v; st.shared.u32 [%s64+4], %lane; st.shared.u32 [%s64+8], %n;",
    ),
    (
        "merge",
        "st_2",
        "st.shared.u32 [%s64], %v; st.shared.u32 [%s64+4], %lane;",
    ),
    (
        "merge",
        "st_4_of_8",
        "st.shared.u32 [%s8], %v; st.shared.u32 [%s8+4], %lane; st.shared.u32 [%s8+8], %n; st.shared.u32 [%s8+12], %v;",
    ),
    (
        "merge",
        "st_4_of_4",
        "st.shared.u32 [%s4], %v; st.shared.u32 [%s4+4], %lane; st.shared.u32 [%s4+8], %n; st.shared.u32 [%s4+12], %v;",
    ),
    (
        "merge",
        "st_f64_2",
        "st.shared.f64 [%s64], %d0; st.shared.f64 [%s64+8], %d1;",
    ),
    (
        "merge",
        "st_v2_2",
        "st.shared.v2.u32 [%s64], {%v, %lane}; st.shared.v2.u32 [%s64+8], {%n, %v};",
    ),
    (
        "merge",
        "st_u8_4",
        "st.shared.u8 [%s64], %v; st.shared.u8 [%s64+1], %lane; st.shared.u8 [%s64+2], %n; st.shared.u8 [%s64+3], %v;",
    ),
    (
        "merge",
        "st_u16_2",
        "st.shared.u16 [%s64], %h0; st.shared.u16 [%s64+2], %h1;",
    ),
    (
        "merge",
        "st_two_arrays",
        "st.shared.u32 [%s64], %v; st.shared.u32 [%s64+4096], %lane; st.shared.u32 [%s64+4], %n; st.shared.u32 [%s64+4100], %v;",
    ),
    (
        "merge",
        "st_barrier",
        "st.shared.u32 [%s64], %v; bar.sync 0; st.shared.u32 [%s64+4], %lane;",
    ),
    (
        "merge",
        "st_guarded",
        "@%p0 st.shared.u32 [%s64], %v; @%p0 st.shared.u32 [%s64+4], %lane; @%p0 st.shared.u32 [%s64+8], %n; @%p0 st.shared.u32 [%s64+12], %v;",
    ),
    (
        "merge",
        "st_volatile",
        "st.volatile.shared.u32 [%s64], %v; st.volatile.shared.u32 [%s64+4], %lane;",
    ),
    (
        "merge",
        "ld_4",
        "ld.shared.u32 %r1, [%s64]; ld.shared.u32 %r2, [%s64+4]; ld.shared.u32 %r3, [%s64+8]; ld.shared.u32 %r4, [%s64+12]; {sum4}",
    ),
    (
        "merge",
        "ld_3",
        "ld.shared.u32 %r1, [%s64]; ld.shared.u32 %r2, [%s64+4]; ld.shared.u32 %r4, [%s64+12]; mov.u32 %r3, 0; {sum4}",
    ),
    (
        "merge",
        "ld_guarded",
        "{zero4} @%p0 ld.shared.u32 %r1, [%s64]; @%p0 ld.shared.u32 %r2, [%s64+4]; @%p0 ld.shared.u32 %r3, [%s64+8]; @%p0 ld.shared.u32 %r4, [%s64+12]; {sum4}",
    ),
    (
        "merge",
        "st_ld_st",
        "st.shared.u32 [%s64], %v; ld.shared.u32 %r1, [%s64+64]; st.shared.u32 [%s64+4], %lane; st.global.u32 [%out], %r1;",
    ),
    (
        "merge",
        "ld_st_ld",
        "ld.shared.u32 %r1, [%s64]; st.shared.u32 [%s64+64], %v; ld.shared.u32 %r2, [%s64+4]; mov.u32 %r3, 0; mov.u32 %r4, 0; {sum4}",
    ),
    // Asynchronous copies.
    (
        "cp_async",
        "ca_4",
        "cp.async.ca.shared.global [%s4], [%g4], 4; {arrive}",
    ),
    (
        "cp_async",
        "ca_8",
        "cp.async.ca.shared.global [%s8], [%g8], 8; {arrive}",
    ),
    (
        "cp_async",
        "ca_16",
        "cp.async.ca.shared.global [%s16], [%g16], 16; {arrive}",
    ),
    (
        "cp_async",
        "cg_16",
        "cp.async.cg.shared.global [%s16], [%g16], 16; {arrive}",
    ),
    (
        "cp_async",
        "cg_16_twice",
        "cp.async.cg.shared.global [%s16], [%g16], 16; cp.async.cg.shared.global [%s16+512], [%g16+512], 16; {arrive}",
    ),
    (
        "cp_async",
        "ca_4_conflicts",
        "cp.async.ca.shared.global [%s64], [%g4], 4; {arrive}",
    ),
    (
        "cp_async",
        "ca_4_strided",
        "cp.async.ca.shared.global [%s4], [%g64], 4; {arrive}",
    ),
    (
        "cp_async",
        "cg_16_conflicts",
        "cp.async.cg.shared.global [%s64], [%g16], 16; {arrive}",
    ),
    (
        "cp_async",
        "cg_16_zeros",
        "cp.async.cg.shared.global [%s16], [%g16], 16, 0; {arrive}",
    ),
    (
        "cp_async",
        "ca_4_half",
        "@%p0 cp.async.ca.shared.global [%s4], [%g4], 4; {arrive}",
    ),
    // What else could differ.
    ("other", "ld_v4", "ld.global.v4.u32 {results}, [%g16]; {sum4}"),
    (
        "other",
        "ld_v4_half",
        "{zero4} @%p0 ld.global.v4.u32 {results}, [%g16]; {sum4}",
    ),
    (
        "other",
        "ld_v2_odd",
        "{zero4} @%p1 ld.global.v2.u32 {%r1, %r2}, [%g8]; {sum4}",
    ),
    (
        "other",
        "ld_v4_strided",
        "ld.global.v4.u32 {results}, [%g64]; {sum4}",
    ),
    (
        "other",
        "ld_4_scalars",
        "ld.global.u32 %r1, [%g64]; ld.global.u32 %r2, [%g64+4]; ld.global.u32 %r3, [%g64+8]; ld.global.u32 %r4, [%g64+12]; {sum4}",
    ),
    (
        "other",
        "st_4_scalars",
        "st.global.u32 [%g64], %v; st.global.u32 [%g64+4], %lane; st.global.u32 [%g64+8], %n; st.global.u32 [%g64+12], %v;",
    ),
    (
        "other",
        "ld_nc",
        "ld.global.nc.u32 %r1, [%g4]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_nc_strided",
        "ld.global.nc.u32 %r1, [%g64]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_cg",
        "ld.global.cg.u32 %r1, [%g4]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_volatile",
        "ld.volatile.global.u32 %r1, [%g4]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_relaxed",
        "ld.relaxed.gpu.global.u32 %r1, [%g4]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_same",
        "shr.u32 %r2, %lane, 5; mad.wide.u32 %x1, %r2, 4, %data; ld.global.u32 %r1, [%x1]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_uniform",
        "ld.global.u32 %r1, [%data+64]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_none_on",
        "setp.gt.u32 %p2, %lane, 64; mov.u32 %r1, 0; @%p2 ld.global.u32 %r1, [%g4]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "st_none_on",
        "setp.gt.u32 %p2, %lane, 64; @%p2 st.global.u32 [%g4], %v;",
    ),
    (
        "other",
        "st_shared_none_on",
        "setp.gt.u32 %p2, %lane, 64; @%p2 st.shared.u32 [%s4], %v;",
    ),
    (
        "other",
        "branch_none_on",
        "setp.gt.u32 %p2, %lane, 64; @%p2 bra l1; bra l2; l1: ld.global.u32 %r1, [%g4+4096]; st.global.u32 [%out], %r1; st.shared.u32 [%s4], %r1; l2:",
    ),
    (
        "other",
        "ld_u8",
        "ld.global.u8 %r1, [%g1]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "ld_u16",
        "ld.global.u16 %h2, [%g2]; st.global.u16 [%g2+4096], %h2;",
    ),
    ("other", "st_u8", "st.global.u8 [%g1], %v;"),
    (
        "other",
        "st_same",
        "shr.u32 %r2, %lane, 5; mad.wide.u32 %x1, %r2, 4, %data; st.global.u32 [%x1], %v;",
    ),
    ("other", "st_v2_half", "@%p0 st.global.v2.u32 [%g8], {%v, %lane};"),
    ("other", "st_v4_odd", "@%p1 st.global.v4.u32 [%g16], {values};"),
    (
        "other",
        "ld_shifted",
        "ld.global.u32 %r1, [%g4+12]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "shared_v2_half",
        "@%p0 st.shared.v2.u32 [%s8], {%v, %lane}; bar.sync 0; {zero4} @%p0 ld.shared.v2.u32 {%r1, %r2}, [%s8]; {sum4}",
    ),
    (
        "other",
        "shared_v2_odd",
        "@%p1 st.shared.v2.u32 [%s8], {%v, %lane}; bar.sync 0; {zero4} @%p1 ld.shared.v2.u32 {%r1, %r2}, [%s8]; {sum4}",
    ),
    (
        "other",
        "shared_v4_half",
        "@%p0 st.shared.v4.u32 [%s16], {values}; bar.sync 0; {zero4} @%p0 ld.shared.v4.u32 {results}, [%s16]; {sum4}",
    ),
    (
        "other",
        "shared_v4_odd",
        "@%p1 st.shared.v4.u32 [%s16], {values}; bar.sync 0; {zero4} @%p1 ld.shared.v4.u32 {results}, [%s16]; {sum4}",
    ),
    (
        "other",
        "shared_v4_strided",
        "st.shared.v4.u32 [%s64], {values}; bar.sync 0; ld.shared.v4.u32 {results}, [%s64]; {sum4}",
    ),
    (
        "other",
        "shared_u16",
        "st.shared.u16 [%s2], %h0; bar.sync 0; ld.shared.u16 %h2, [%s2]; st.global.u16 [%g2], %h2;",
    ),
    (
        "other",
        "shared_u16_pairs",
        "shr.u32 %r2, %lane, 1; mad.lo.u32 %r3, %r2, 128, %tile; and.b32 %r4, %lane, 1; mad.lo.u32 %r3, %r4, 2, %r3; st.shared.u16 [%r3], %h0; bar.sync 0; ld.shared.u16 %h2, [%r3]; st.global.u16 [%g2], %h2;",
    ),
    (
        "other",
        "shared_u8",
        "st.shared.u8 [%s1], %v; bar.sync 0; ld.shared.u8 %r1, [%s1]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "shared_u8_strided",
        "st.shared.u8 [%s64], %v; bar.sync 0; ld.shared.u8 %r1, [%s64]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "generic_shared",
        "cvt.u64.u32 %x1, %s4; cvta.shared.u64 %x1, %x1; st.u32 [%x1], %v; bar.sync 0; ld.u32 %r1, [%x1]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "generic_unknown",
        "cvt.u64.u32 %x1, %s64; cvta.shared.u64 %x1, %x1; ld.global.u64 %x2, [%g8+8192]; add.u64 %x1, %x1, %x2; st.u32 [%x1], %v; bar.sync 0; ld.u32 %r1, [%x1]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "generic_global",
        "ld.global.u64 %x2, [%g8+8192]; cvta.global.u64 %x1, %g64; add.u64 %x1, %x1, %x2; ld.u32 %r1, [%x1]; st.u32 [%x1+4], %v; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "generic_mixed",
        "cvt.u64.u32 %x1, %s4; cvta.shared.u64 %x1, %x1; cvta.global.u64 %x2, %g4; selp.b64 %x1, %x1, %x2, %p0; st.u32 [%x1], %v; bar.sync 0; ld.u32 %r1, [%x1]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "generic_atomic_shared",
        "cvt.u64.u32 %x1, %s4; cvta.shared.u64 %x1, %x1; ld.global.u64 %x2, [%g8+8192]; add.u64 %x1, %x1, %x2; atom.add.u32 %r1, [%x1], %v; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "generic_atomic_global",
        "ld.global.u64 %x2, [%g8+8192]; cvta.global.u64 %x1, %g4; add.u64 %x1, %x1, %x2; atom.add.u32 %r1, [%x1], %v; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "local",
        ".local .align 4 .b8 own[256]; mov.u32 %r2, own; and.b32 %r3, %lane, 7; mad.lo.u32 %r2, %r3, 4, %r2; st.local.u32 [%r2], %v; ld.global.u32 %r4, [%g4]; add.u32 %r3, %r2, %r4; ld.local.u32 %r1, [%r3]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "local_same",
        ".local .align 4 .b8 own2[256]; mov.u32 %r2, own2; ld.global.u32 %r4, [%g4]; add.u32 %r3, %r2, %r4; st.local.u32 [%r3], %v; ld.global.u32 %r4, [%g4+4096]; add.u32 %r3, %r3, %r4; ld.local.u32 %r1, [%r3]; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "divergent_loads",
        "@%p0 bra l3; ld.global.u32 %r1, [%g4+4096]; bra l4; l3: ld.global.u32 %r1, [%g64+8192]; l4: st.global.u32 [%out], %r1;",
    ),
    ("other", "red_uniform", "red.global.add.u32 [%data+64], 1;"),
    ("other", "red_uniform_lane", "red.global.add.u32 [%data+64], %v;"),
    ("other", "red_uniform_f32", "red.global.add.f32 [%data+64], %f0;"),
    (
        "other",
        "atom_uniform",
        "atom.global.add.u32 %r1, [%data+64], 1; st.global.u32 [%out], %r1;",
    ),
    (
        "other",
        "atom_uniform_guarded",
        "mov.u32 %r1, 0; @%p1 atom.global.add.u32 %r1, [%data+64], 1; st.global.u32 [%out], %r1;",
    ),
    ("other", "red_shared_uniform", "red.shared.add.u32 [tile], 1;"),
    ("other", "red_unused_atom", "atom.global.add.u32 %r1, [%g4], %v;"),
    (
        "other",
        "red_half",
        "@%p0 bra l5; red.global.add.u32 [%g4], %v; l5:",
    ),
    (
        "other",
        "constants",
        "ld.const.u32 %r1, [table]; mov.u64 %x1, table; mad.wide.u32 %x1, %lane, 4, %x1; ld.const.u32 %r4, [%x1]; add.u32 %r1, %r1, %r4; st.global.u32 [%out], %r1;",
    ),
];

/// Names in braces that bodies contain, and what they stand for.
const SHORT: [(&str, &str); 5] = [
    ("{values}", "{%v, %lane, %n, %v}"),
    ("{results}", "{%r1, %r2, %r3, %r4}"),
    (
        "{zero4}",
        "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;",
    ),
    (
        "{sum4}",
        "add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4; add.u32 %r1, %r1, %r3; st.global.u32 [%out], %r1;",
    ),
    ("{arrive}", "cp.async.commit_group; cp.async.wait_group 0;"),
];

/// All kernels, by group.
pub fn kernels() -> Vec<Kernel> {
    let mut all = Vec::new();
    for (group, base, address, rows) in [
        ("global", "%data", "%x0", GLOBAL_ATOMICS),
        ("shared", "%tile", "%r0", SHARED_ATOMICS),
    ] {
        for (operation, text, bytes, patterns) in rows {
            for pattern in *patterns {
                all.push(Kernel {
                    name: format!("{group}_{operation}_{}", pattern.name),
                    body: at(base, address, text, *bytes, pattern),
                });
            }
        }
    }
    for (group, name, text) in BODIES {
        let long = SHORT.iter().fold((*text).to_owned(), |text, (short, long)| {
            text.replace(short, long)
        });
        all.push(Kernel {
            name: format!("{group}_{name}"),
            body: long,
        });
    }
    all
}

/// An access at the addresses of a pattern.
fn at(base: &str, address: &str, text: &str, bytes: u32, p: &Pattern) -> String {
    let mut body = format!(
        "mul.lo.u32 %r0, %lane, {}; shr.u32 %r0, %r0, {}; and.b32 %r0, %r0, {};\n",
        p.times, p.shift, p.mask
    );
    let (step, start) = (p.step * bytes, p.start * bytes);
    match base {
        "%data" => {
            let _ = writeln!(
                body,
                "mad.wide.u32 %x0, %r0, {step}, {base}; add.u64 %x0, %x0, {start};"
            );
        }
        _ => {
            let _ = writeln!(
                body,
                "mad.lo.u32 %r0, %r0, {step}, {base}; add.u32 %r0, %r0, {start};"
            );
        }
    }
    let text = text.replace("{a}", address);
    if p.lanes == u32::MAX {
        body.push_str(&text);
    } else {
        let _ = write!(
            body,
            "mov.u32 %r2, {}; shr.u32 %r2, %r2, %lane; and.b32 %r2, %r2, 1; setp.eq.u32 %p3, %r2, 0;\n\
             @%p3 bra off; {text} off:",
            p.lanes
        );
    }
    body
}

/// PTX of these kernels.
pub fn module<'a>(kernels: impl IntoIterator<Item = &'a Kernel>) -> String {
    let mut text =
        String::from(".version 8.4\n.target sm_90\n.address_size 64\n.const .align 4 .b8 table[256];\n");
    for Kernel { name, body, .. } in kernels {
        let _ = write!(
            text,
            ".visible .entry {name}(.param .u64 data)\n{{\n{HEAD}{body}\nret;\n}}\n"
        );
    }
    text
}

/// Registers: `%lane`; values `%v`, `%n`, `%w`, `%f0`, `%d0`, `%h0`; `%gN` and `%sN`, the addresses of the lane's N bytes
/// in global and shared memory; `%p0`, lanes 0 to 15; `%p1`, odd lanes; `%out`, the place of the lane's result.
const HEAD: &str = "\
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>, %lane, %v, %n, %tile, %s1, %s2, %s4, %s8, %s16, %s64;
.reg .b64 %x<4>, %w, %param, %data, %out, %g1, %g2, %g4, %g8, %g16, %g64; .reg .f32 %f<4>; .reg .f64 %d<4>;
.shared .align 128 .b8 tile[8192];
ld.param.u64 %param, [data]; cvta.to.global.u64 %data, %param;
mov.u32 %lane, %tid.x; add.u32 %v, %lane, 1; xor.b32 %n, %lane, 5; cvt.u64.u32 %w, %v;
cvt.rn.f32.u32 %f0, %v; cvt.rn.f64.u32 %d0, %v; cvt.rn.f64.u32 %d1, %lane; cvt.u16.u32 %h0, %v; cvt.u16.u32 %h1, %lane;
setp.lt.u32 %p0, %lane, 16; and.b32 %r0, %lane, 1; setp.ne.u32 %p1, %r0, 0;
mov.u32 %tile, tile; add.u32 %s1, %lane, %tile; mad.lo.u32 %s2, %lane, 2, %tile; mad.lo.u32 %s4, %lane, 4, %tile;
mad.lo.u32 %s8, %lane, 8, %tile; mad.lo.u32 %s16, %lane, 16, %tile; mad.lo.u32 %s64, %lane, 64, %tile;
cvt.u64.u32 %g1, %lane; add.u64 %g1, %g1, %data; mad.wide.u32 %g2, %lane, 2, %data; mad.wide.u32 %g4, %lane, 4, %data;
mad.wide.u32 %g8, %lane, 8, %data; mad.wide.u32 %g16, %lane, 16, %data; mad.wide.u32 %g64, %lane, 64, %data;
add.u64 %out, %g4, 65536;
";
