//! Arithmetic and comparisons of floats: single, double, half.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x021, "rr ri rc ru", "FADD{,.FTZ}@80{,.RM,.RP,.RZ}@78{,.SAT}@77", "R@16 = -|A| -|D|.f", "", "sum"),
    (0x020, "rr ir cr ur", "FMUL{,.FTZ}@80{,.RM,.RP,.RZ}@78{,.SAT}@77", "R@16 = -|A| -|B|.f", "84..87=4", "product"),
    (0x023, "rr ri rc ir cr ur ru", "FFMA{,.FTZ}@80{,.RM,.RP,.RZ}@78{,.SAT}@77", "R@16 = -|A| -|B|.f -|C|.f", "", "product plus C, rounded once"),
    (0x009, "rr ir cr ur", "FMNMX{,.FTZ}@80{,*.NAN}@81{,^.XORSIGN}@82", "R@16 = -|A| -|B|.f !P@87", "", "smaller or larger"),
    (0x00b, "rr ir cr ur", "FSETP{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.NUM,.NAN,.LTU,.EQU,.LEU,.GTU,.NEU,.GEU,.T}@76{,.FTZ}@80{.AND,.OR,.XOR}@74", "P@81 P@84 = -|A| -|B|.f !P@87", "", "compare"),
    (0x102, "rr ir cr ur", "FCHK", "P@81 = -|A| -|B|.f", "", "whether a division needs the slow way"),
    (0x108, "rr ir cr ur", "MUFU{.COS,.SIN,.EX2,.LG2,.RCP,.RSQ,?,?,.SQRT,.TANH}@74", "R@16 = -|B|.f", "", "approximate function"),
    (0x108, "rr ir cr ur", "MUFU{?,?,?,?,?,?,.RCP64H,.RSQ64H}@74", "R@16 = -|B|.d", "", "approximate function of the upper half of a double"),
    (0x029, "rr ri rc ru", "DADD{,.RM,.RP,.RZ}@78", "R@16 = -|A| -|C|.d", "", "sum"),
    (0x028, "rr ir cr ur", "DMUL{,.RM,.RP,.RZ}@78", "R@16 = -|A| -|B|.d", "", "product"),
    (0x02b, "rr ri rc ir cr ur ru", "DFMA{,.RM,.RP,.RZ}@78", "R@16 = -|A| -|B|.d -|C|.d", "", "product plus C, rounded once"),
    (0x02a, "rr ri rc ru", "DSETP{.MIN,.LT,.EQ,.LE,.GT,.NE,.GE,.NUM,.NAN,.LTU,.EQU,.LEU,.GTU,.NEU,.GEU,.MAX}@76{.AND,.OR,.XOR}@74", "P@81 P@84 = -|A| -|D|.d !P@87", "", "compare"),
    (0x00a, "rr ir cr ur", "FSET.BF{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.NUM,.NAN,.LTU,.EQU,.LEU,.GTU,.NEU,.GEU,.T}@76{,.FTZ}@80{.AND,.OR,.XOR}@74", "R@16 = -|A| -|B|.f !P@87", "", "compare, to 1.0 or 0.0"),
    (0x031, "rr", "HFMA2{,*.BF16_V2}@85{,.FMZ}@76{,.FTZ}@80.RELU", "R@16 = -|A|.h -|B|.h -|C|.h {!P@87}", "79..80=1 sm_80 sm_90", "two products of halves plus C, not below zero"),
    (0x033, "rr", "HSET2{,^.BF16_V2}@65{,.BF}@71{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.NUM,.NAN,.LTU,.EQU,.LEU,.GTU,.NEU,.GEU,.T}@76{,.FTZ}@80{.AND,.OR,.XOR}@69", "R@16 = -|A|.h -|D|.h !P@87", "", "compare halves, to a mask or to 1.0 and 0.0"),
    (0x030, "rr", "HADD2{,^.BF16_V2}@85{,.F32}@78{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h -|B|.h", "sm_90", "two sums of halves; with .F32 one sum of wider numbers"),
    (0x030, "rr", "HADD2{,.F32}@78{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h -|D|.h", "sm_75 sm_80", "two sums of halves; with .F32 one sum of wider numbers"),
    (0x030, "ri", "HADD2{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h B.h", "", "two sums of halves"),
    (0x030, "ri", "HADD2.BF16_V2{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h B.b", "85..86=1 sm_90", "two sums of halves"),
    (0x032, "rr", "HMUL2{,^.BF16_V2}@85{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h -|B|.h", "sm_80 sm_90", "two products of halves"),
    (0x032, "rr", "HMUL2{,.F32}@78{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h -|B|.h", "sm_75", "two products of halves"),
    (0x031, "rr", "HFMA2{,*.BF16_V2}@85{,.F32}@78{,.FMZ}@76{,.FTZ}@80{,.SAT}@77", "R@16 = -|A|.h -|B|.h -|C|.h", "", "two products of halves, plus C"),
    (0x035, "rr ri ir", "HFMA2.MMA{,.FMZ}@76{,.FTZ}@80{,.SAT}@77", "R@16 = -|A| B.i -C.i", "sm_80 sm_90", "two products of halves, plus C, by the tensor cores"),
    (0x035, "rr ri ir", "HFMA2.MMA.BF16_V2{,.FMZ}@76{,.FTZ}@80{,.SAT}@77", "R@16 = -|A| B.j -C.j", "85..86=1 sm_90", "the same of bf16"),
    (0x034, "rr", "HSETP2{,^.BF16_V2}@65{.F,.LT,.EQ,.LE,.GT,.NE,.GE,.NUM,.NAN,.LTU,.EQU,.LEU,.GTU,.NEU,.GEU,.T}@76{,.FTZ}@80{.AND,.OR,.XOR}@69", "P@81 P@84 = -|A|.h -|D|.h !P@87", "", "compare halves"),
];
