//! The names of operations and of their modifiers.

macro_rules! names {
    ($(#[$outer:meta])* $type:ident { $($variant:ident $name:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl $type {
            /// All of them, in alphabetical order.
            pub const ALL: &[$type] = &[$($type::$variant,)*];

            /// As it is printed.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            /// The one with this name.
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
    /// What an instruction does: its mnemonic without modifiers.
    Operation {
        Bar "BAR",
        Bra "BRA",
        Break "BREAK",
        Brev "BREV",
        Bssy "BSSY",
        Bsync "BSYNC",
        Cs2r "CS2R",
        Dadd "DADD",
        Dfma "DFMA",
        Dmul "DMUL",
        Dsetp "DSETP",
        Exit "EXIT",
        Fadd "FADD",
        Fchk "FCHK",
        Ffma "FFMA",
        Flo "FLO",
        Fmnmx "FMNMX",
        Fmul "FMUL",
        Fsel "FSEL",
        Fsetp "FSETP",
        I2fp "I2FP",
        Iabs "IABS",
        Iadd3 "IADD3",
        Idp "IDP",
        Imad "IMAD",
        Isetp "ISETP",
        Ld "LD",
        Ldc "LDC",
        Ldg "LDG",
        Lds "LDS",
        Lea "LEA",
        Lop3 "LOP3",
        Mov "MOV",
        Mufu "MUFU",
        Nop "NOP",
        P2r "P2R",
        Plop3 "PLOP3",
        Popc "POPC",
        Prmt "PRMT",
        R2p "R2P",
        R2ur "R2UR",
        S2r "S2R",
        S2ur "S2UR",
        Sel "SEL",
        Sgxt "SGXT",
        Shf "SHF",
        St "ST",
        Stg "STG",
        Sts "STS",
        Uiadd3 "UIADD3",
        Uldc "ULDC",
        Umov "UMOV",
        Vabsdiff "VABSDIFF",
        Viadd "VIADD",
        Viaddmnmx "VIADDMNMX",
        Vimnmx "VIMNMX",
        Vote "VOTE",
    }
}

names! {
    /// A word behind the mnemonic. Those that begin with a digit have a `W` in front of it here.
    Modifier {
        W128 "128",
        W2a "2A",
        W32 "32",
        W4a "4A",
        W64 "64",
        All "ALL",
        And "AND",
        Any "ANY",
        Arv "ARV",
        B4e "B4E",
        Constant "CONSTANT",
        Cos "COS",
        DeferBlocking "DEFER_BLOCKING",
        Div "DIV",
        E "E",
        Ecl "ECL",
        Ecr "ECR",
        Ef "EF",
        El "EL",
        Eq "EQ",
        Equ "EQU",
        Eu "EU",
        Ex "EX",
        Ex2 "EX2",
        F "F",
        F32 "F32",
        F4e "F4E",
        Ftz "FTZ",
        Ge "GE",
        Geu "GEU",
        Gpu "GPU",
        Gt "GT",
        Gtu "GTU",
        Hi "HI",
        L "L",
        Le "LE",
        Leu "LEU",
        Lg2 "LG2",
        Lo "LO",
        Lt "LT",
        Ltu "LTU",
        Lu "LU",
        Lut "LUT",
        Max "MAX",
        Min "MIN",
        Na "NA",
        Nan "NAN",
        Ne "NE",
        Neu "NEU",
        Num "NUM",
        Or "OR",
        Popc "POPC",
        R "R",
        Rc16 "RC16",
        Rc8 "RC8",
        Rcp "RCP",
        Rcp64h "RCP64H",
        Red "RED",
        Rm "RM",
        Rp "RP",
        Rsq "RSQ",
        Rsq64h "RSQ64H",
        Rz "RZ",
        S16 "S16",
        S32 "S32",
        S64 "S64",
        S8 "S8",
        Sat "SAT",
        Sh "SH",
        Sin "SIN",
        Sm "SM",
        Sqrt "SQRT",
        Strong "STRONG",
        Sx32 "SX32",
        Sync "SYNC",
        Sys "SYS",
        T "T",
        Tanh "TANH",
        U16 "U16",
        U32 "U32",
        U64 "U64",
        U8 "U8",
        W "W",
        Wide "WIDE",
        X "X",
        Xor "XOR",
    }
}

impl Operation {
    /// Whether it is executed once for the warp, on its registers, so that its guard is a predicate of the warp.
    pub fn is_uniform(self) -> bool {
        self.name().starts_with('U')
    }
}
