//! Conversions between types of numbers.

use super::RowText;

#[rustfmt::skip]
pub(super) const ROWS: &[RowText] = &[
    (0x045, "rr ir cr ur", "I2FP.F32{.U32,.S32}@74{,?,?,.RZ}@78", "R@16 = B", "76..77=1 85..86=1 sm_90", "integer to float"),
    (0x03e, "rr ir cr ur", "F2FP{,.SATFINITE}@77{,.RELU}@75{.F16,.BF16}@76.F32.PACK_AB{,?,?,.RZ}@79", "R@16 = A B.f", "64..72=255 sm_90", "two floats to halves"),
    (0x03e, "rr ir cr ur", "F2FP{,.SATFINITE}@77{,.RELU}@75{,.BF16}@76.PACK_AB{,?,?,.RZ}@79", "R@16 = A B.f", "64..72=255 sm_80", "two floats to halves"),
    (0x105, "rr ir cr ur", "F2I{,.FTZ}@80{.U16,.S16}@72{?,.F16,,.F64}@84{,.FLOOR,.CEIL,.TRUNC}@78{,.NTZ}@77", "R@16 = -|B|.f", "75..77=1", "float to integer"),
    (0x105, "rr ir cr ur", "F2I{,.FTZ}@80{.U32,}@72{?,.F16,,.F64}@84{,.FLOOR,.CEIL,.TRUNC}@78{,.NTZ}@77", "R@16 = -|B|.f", "75..77=2", "float to integer"),
    (0x111, "rr ir cr ur", "F2I{,.FTZ}@80{.U16,.S16}@72{?,.F16,,.F64}@84{,.FLOOR,.CEIL,.TRUNC}@78{,.NTZ}@77", "R@16 = -|B|.f", "75..77=1", "float to integer"),
    (0x111, "rr ir cr ur", "F2I{,.FTZ}@80{.U32,}@72{?,.F16,,.F64}@84{,.FLOOR,.CEIL,.TRUNC}@78{,.NTZ}@77", "R@16 = -|B|.f", "75..77=2", "float to integer"),
    (0x111, "rr ir cr ur", "F2I{,.FTZ}@80{.U64,.S64}@72{?,.F16,,.F64}@84{,.FLOOR,.CEIL,.TRUNC}@78{,.NTZ}@77", "R@16 = -|B|.f", "75..77=3", "float to integer"),
    (0x106, "rr ir ur", "I2F{?,.F16,}@75{.U8,.S8}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=0", "integer to float"),
    (0x106, "cr", "I2F{?,.F16,}@75{.U8,.S8}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=0 sm_90", "integer to float"),
    (0x106, "rr ir cr ur", "I2F{?,.F16,}@75{.U16,.S16}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=1", "integer to float"),
    (0x106, "rr ir cr ur", "I2F{?,.F16,}@75{.U32,}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=2", "integer to float"),
    (0x106, "rr ir cr ur", "I2F{?,.F16,}@75{.U64,.S64}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=3", "integer to float"),
    (0x112, "rr ir ur", "I2F{?,.F16,,.F64}@75{.U8,.S8}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=0", "integer to float"),
    (0x112, "cr", "I2F{?,.F16,,.F64}@75{.U8,.S8}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=0 sm_90", "integer to float"),
    (0x112, "rr ir cr ur", "I2F{?,.F16,,.F64}@75{.U16,.S16}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=1", "integer to float"),
    (0x112, "rr ir cr ur", "I2F{?,.F16,,.F64}@75{.U32,}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=2", "integer to float"),
    (0x112, "rr ir cr ur", "I2F{?,.F16,,.F64}@75{.U64,.S64}@74{,.RM,.RP,.RZ}@78", "R@16 = B.u", "84..86=3", "integer to float"),
    (0x107, "rr ir cr ur", "FRND{,.FTZ}@80{,.FLOOR,.CEIL,.TRUNC}@78", "R@16 = -|B|.f", "75..77=2 84..86=2", "round to a whole number"),
    (0x113, "rr ir cr ur", "FRND{,.FTZ}@80.F64{,.FLOOR,.CEIL,.TRUNC}@78", "R@16 = -|B|.d", "75..77=3 84..86=3", "round to a whole number"),
    (0x104, "rr ir cr ur", "F2F{,.FTZ}@80{?,.F16,.F32,.F64}@75{?,.F16,.F32,.F64}@84{,.RM,.RP,.RZ}@78", "R@16 = -|B|.f", "", "float to float"),
    (0x110, "rr ir cr ur", "F2F{,.FTZ}@80{?,.F16,.F32,.F64}@75{?,.F16,.F32,.F64}@84{,.RM,.RP,.RZ}@78", "R@16 = -|B|.f", "", "float to float"),
];
