//! Names of operations and of their modifiers.

macro_rules! names {
    ($(#[$outer:meta])* $type:ident { $($variant:ident $name:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl $type {
            /// All values, in alphabetical order.
            pub const ALL: &[$type] = &[$($type::$variant,)*];

            /// Returns the name as `nvdisasm` prints it.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            pub fn from_name(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// Operation of an instruction: its mnemonic without modifiers.
    Operation {
        Acqbulk "ACQBULK", Arrives "ARRIVES", Atom "ATOM", Atomg "ATOMG", Atoms "ATOMS", B2r "B2R", Bar "BAR",
        Bmma "BMMA", Bmov "BMOV", Bmsk "BMSK", Bpt "BPT", Bra "BRA", Break "BREAK", Brev "BREV", Brx "BRX",
        Bssy "BSSY", Bsync "BSYNC", Call "CALL", Cctl "CCTL", Cgaerrbar "CGAERRBAR", Cs2r "CS2R", Dadd "DADD",
        Depbar "DEPBAR", Dfma "DFMA", Dmma "DMMA", Dmul "DMUL", Dsetp "DSETP", Elect "ELECT",
        Endcollective "ENDCOLLECTIVE", Errbar "ERRBAR", Exit "EXIT", F2f "F2F", F2fp "F2FP", F2i "F2I", Fadd "FADD",
        Fchk "FCHK", Fence "FENCE", Ffma "FFMA", Flo "FLO", Fmnmx "FMNMX", Fmul "FMUL", Frnd "FRND", Fsel "FSEL",
        Fset "FSET", Fsetp "FSETP", Hadd2 "HADD2", Hfma2 "HFMA2", Hgmma "HGMMA", Hmma "HMMA", Hmul2 "HMUL2",
        Hset2 "HSET2", Hsetp2 "HSETP2", I2f "I2F", I2fp "I2FP", Iabs "IABS", Iadd3 "IADD3", Idp "IDP", Imad "IMAD",
        Imma "IMMA", Imnmx "IMNMX", Isetp "ISETP", Ld "LD", Ldc "LDC", Ldg "LDG", Ldgdepbar "LDGDEPBAR",
        Ldgsts "LDGSTS", Ldl "LDL", Lds "LDS", Ldsm "LDSM", Lea "LEA", Lepc "LEPC", Lop3 "LOP3", Match "MATCH",
        Membar "MEMBAR", Mov "MOV", Movm "MOVM", Mufu "MUFU", Nanosleep "NANOSLEEP", Nop "NOP", P2r "P2R",
        Plop3 "PLOP3", Popc "POPC", Preexit "PREEXIT", Prmt "PRMT", Qgmma "QGMMA", R2p "R2P", R2ur "R2UR", Red "RED",
        Redg "REDG", Redux "REDUX", Ret "RET", S2r "S2R", S2ur "S2UR", Sel "SEL", Sgxt "SGXT", Shf "SHF", Shfl "SHFL",
        St "ST", Stg "STG", Stl "STL", Sts "STS", Stsm "STSM", Syncs "SYNCS", Ublkcp "UBLKCP", Ublkpf "UBLKPF",
        Ubrev "UBREV", UcgabarArv "UCGABAR_ARV", UcgabarWait "UCGABAR_WAIT", Uflo "UFLO", Uiadd3 "UIADD3",
        Uimad "UIMAD", Uisetp "UISETP", Uldc "ULDC", Ulea "ULEA", Ulop3 "ULOP3", Umov "UMOV", Upopc "UPOPC",
        Uprmt "UPRMT", Usel "USEL", Usetmaxreg "USETMAXREG", Ushf "USHF", Utmacctl "UTMACCTL",
        Utmacmdflush "UTMACMDFLUSH", Utmaldg "UTMALDG", Utmapf "UTMAPF", Utmastg "UTMASTG", Vabsdiff "VABSDIFF",
        Viadd "VIADD", Viaddmnmx "VIADDMNMX", Vimnmx "VIMNMX", Vote "VOTE", Voteu "VOTEU", Warpgroup "WARPGROUP",
        Warpsync "WARPSYNC", Yield "YIELD",
    }
}

names! {
    /// Word after the mnemonic. Words that begin with a digit have a `W` in front here; one that begins with
    /// `x` continues the word before it.
    Modifier {
        W128 "128", W1d "1D", W16 "16", W168128 "168128", W16816 "16816", W168256 "168256", W16832 "16832",
        W16864 "16864", W1684 "1684", W1688 "1688", W16x2 "16x2", W16x8x16 "16x8x16", W16x8x4 "16x8x4",
        W16x8x8 "16x8x8", W2 "2", W2a "2A", W2d "2D", W32 "32", W3d "3D", W4 "4", W4a "4A", W4d "4D", W5d "5D",
        W64 "64", W88128 "88128", W8816 "8816", W8x8x4 "8x8x4", A0t1 "A0T1", A0tr "A0TR", A0tx "A0TX", A1t0 "A1T0",
        Abs "ABS", Add "ADD", All "ALL", And "AND", Any "ANY", Arrive "ARRIVE", Art0 "ART0", Arv "ARV",
        Arvcnt "ARVCNT", Async "ASYNC", B4e "B4E", Bf "BF", Bf16 "BF16", Bf16V2 "BF16_V2", Bf16x2 "BF16x2",
        Bfly "BFLY", Bypass "BYPASS", Cas "CAS", Cast "CAST", Cctl "CCTL", Ceil "CEIL", Clear "CLEAR",
        Collective "COLLECTIVE", Constant "CONSTANT", Conv "CONV", Cos "COS", Cta "CTA", Ctapool "CTAPOOL",
        Dealloc "DEALLOC", Dec "DEC", DeferBlocking "DEFER_BLOCKING", Depbar "DEPBAR", Div "DIV", Down "DOWN", E "E",
        E4m3 "E4M3", E5m2 "E5M2", Ecl "ECL", Ecr "ECR", Ef "EF", El "EL", Eq "EQ", Equ "EQU", Eu "EU", Ex "EX",
        Ex2 "EX2", Exch "EXCH", Exclusive "EXCLUSIVE", F "F", F16 "F16", F16x2 "F16x2", F32 "F32", F4e "F4E",
        F64 "F64", Floor "FLOOR", Fmz "FMZ", Ftz "FTZ", G "G", Ge "GE", Geu "GEU", Gpu "GPU", Gt "GT", Gtu "GTU",
        Hi "HI", Idx "IDX", Inc "INC", Iv "IV", Ivall "IVALL", L "L", L2 "L2", Ldgstsbar "LDGSTSBAR", Le "LE",
        Leu "LEU", Lg2 "LG2", Lo "LO", Lt "LT", Ltc128b "LTC128B", Ltc256b "LTC256B", Ltc64b "LTC64B", Ltu "LTU",
        Lu "LU", Lut "LUT", M88 "M88", Max "MAX", Min "MIN", Mma "MMA", Mmio "MMIO", Mt88 "MT88",
        Multicast "MULTICAST", Na "NA", Nan "NAN", Ne "NE", Neu "NEU", Nodec "NODEC", Noinc "NOINC", Ntz "NTZ",
        Num "NUM", Optout "OPTOUT", Or "OR", PackAb "PACK_AB", Pf "PF", Phasechk "PHASECHK", Popc "POPC", R "R",
        Rc16 "RC16", Rc8 "RC8", Rcp "RCP", Rcp64h "RCP64H", Red "RED", Rel "REL", Relu "RELU", Result "RESULT",
        Rm "RM", Rn "RN", Rp "RP", Rsq "RSQ", Rsq64h "RSQ64H", Rz "RZ", S "S", S16 "S16", S16x2 "S16x2", S32 "S32",
        S64 "S64", S8 "S8", Sat "SAT", Satfinite "SATFINITE", Sc "SC", Sh "SH", Sin "SIN", Sm "SM", Sp "SP",
        Spin "SPIN", Sqrt "SQRT", Strong "STRONG", Sum "SUM", Sx32 "SX32", Sync "SYNC", Syncs "SYNCS", Sys "SYS",
        T "T", Tanh "TANH", Tf32 "TF32", Trans64 "TRANS64", Transcnt "TRANSCNT", Trap "TRAP", Trunc "TRUNC",
        TryAlloc "TRY_ALLOC", Trywait "TRYWAIT", U "U", U16 "U16", U16x2 "U16x2", U32 "U32", U64 "U64", U8 "U8",
        Up "UP", View "VIEW", W "W", Warp "WARP", Wide "WIDE", X "X", Xor "XOR", Xorsign "XORSIGN", Zfill "ZFILL",
        X8 "x8", X16 "x16", X24 "x24", X32 "x32", X40 "x40", X48 "x48", X56 "x56", X64 "x64", X72 "x72", X80 "x80",
        X88 "x88", X96 "x96", X104 "x104", X112 "x112", X120 "x120", X128 "x128", X136 "x136", X144 "x144",
        X152 "x152", X160 "x160", X168 "x168", X176 "x176", X184 "x184", X192 "x192", X200 "x200", X208 "x208",
        X216 "x216", X224 "x224", X232 "x232", X240 "x240", X248 "x248", X256 "x256",
    }
}

impl Operation {
    /// Returns whether the operation executes once for the warp, guarded by a uniform predicate.
    pub fn is_uniform(self) -> bool {
        self.name().starts_with('U') || self == Operation::S2ur
    }

    /// Returns whether the operation copies boxes, multiplies matrices of warpgroups, chooses a lane for that, or
    /// orders what is asynchronous: copies, warpgroups, clusters, launches.
    pub fn is_asynchronous(self) -> bool {
        use Operation::*;
        matches!(
            self,
            Acqbulk
                | Arrives
                | Elect
                | Fence
                | Hgmma
                | Preexit
                | Qgmma
                | Syncs
                | Ublkcp
                | Ublkpf
                | UcgabarArv
                | UcgabarWait
                | Usetmaxreg
                | Utmacctl
                | Utmacmdflush
                | Utmaldg
                | Utmapf
                | Utmastg
                | Warpgroup
        )
    }
}
