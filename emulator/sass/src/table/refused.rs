//! Instructions of sm_90 of which only the name is known, for messages of refusals.

/// Names by opcode, as `nvdisasm` prints them.
#[rustfmt::skip]
const NAMES: &[(u16, &str)] = &[
    (0x203, "P2R"), (0x204, "R2P"), (0x20f, "VIMNMX3"), (0x215, "VABSDIFF4"), (0x217, "IMNMX"),
    (0x21d, "PLOP3"), (0x21e, "PLOP3"), (0x21f, "PLOP3"), (0x22c, "CLMAD"), (0x238, "I2I"),
    (0x239, "I2IP"), (0x240, "HMNMX2"),
    (0x243, "F2IP"), (0x247, "VHMNMX"), (0x31f, "SETCTAID"), (0x321, "ALD"), (0x322, "AST"), (0x324, "OUT"),
    (0x326, "IPA"), (0x34e, "LEPC"), (0x352, "RPCMOV"), (0x353, "RPCMOV"), (0x357, "BMOV"), (0x361, "TEX"),
    (0x364, "TLD4"), (0x367, "TLD"), (0x36a, "TMML"), (0x36d, "TXD"), (0x370, "TXQ"), (0x373, "FOOTPRINT"),
    (0x394, "SUATOM"), (0x396, "SUATOM"), (0x3a0, "SURED"), (0x3a2, "ATOM"), (0x3a3, "ATOMG"),
    (0x3a8, "ATOMG"), (0x3aa, "QSPC"), (0x3c0, "GETLMEMBASE"), (0x3c1, "SETLMEMBASE"), (0x3c6, "FENCE"),
    (0x801, "PMTRIG"), (0x80d, "CSMTEST"), (0x80f, "VIMNMX3"), (0x815, "VABSDIFF4"), (0x817, "IMNMX"),
    (0x822, "FSWZADD"), (0x82d, "PREEXIT"), (0x82e, "ACQBULK"), (0x82f, "ELECT"), (0x838, "I2I"),
    (0x839, "I2IP"), (0x840, "HMNMX2"), (0x843, "F2IP"), (0x847, "VHMNMX"),
    (0x89c, "UPLOP3"), (0x91d, "BAR"), (0x920, "AL2P"), (0x923, "ISBERD"), (0x924, "OUT"), (0x925, "PIXLD"),
    (0x926, "IPA"), (0x927, "ISBEWR"), (0x943, "CALL"), (0x94a, "JMP"), (0x94c, "JMX"), (0x952, "RPCMOV"),
    (0x954, "RPCMOV"), (0x956, "BMOV"), (0x957, "BMOV"), (0x95b, "KILL"), (0x990, "CCTLL"), (0x998, "SULD"),
    (0x99a, "SULD"), (0x99c, "SUST"), (0x99e, "SUST"), (0x9b1, "SYNCS"), (0x9b3, "SUQUERY"),
    (0x9b7, "UTMACMDFLUSH"), (0x9b9, "UTMACCTL"), (0x9c5, "WARPGROUP"), (0x9f0, "HGMMA"), (0x9f3, "QGMMA"),
    (0xa03, "P2R"), (0xa04, "R2P"),
    (0xa0f, "VIMNMX3"), (0xa15, "VABSDIFF4"), (0xa17, "IMNMX"), (0xa1d, "PLOP3"), (0xa1e, "PLOP3"),
    (0xa1f, "PLOP3"), (0xa2c, "CLMAD"), (0xa38, "I2I"), (0xa39, "I2IP"), (0xa40, "HMNMX2"), (0xa43, "F2IP"),
    (0xa47, "VHMNMX"), (0xb26, "IPA"), (0xb43, "CALL"), (0xb4a, "JMP"), (0xb52, "RPCMOV"), (0xb54, "RPCMOV"),
    (0xb56, "BMOV"), (0xb57, "BMOV"), (0xb5d, "NANOSLEEP"), (0xb60, "TEX"), (0xb62, "TEX"), (0xb63, "TLD4"),
    (0xb65, "TLD4"), (0xb66, "TLD"), (0xb68, "TLD"), (0xb69, "TMML"), (0xb6b, "TMML"), (0xb6c, "TXD"),
    (0xb6e, "TXD"), (0xb6f, "TXQ"), (0xb71, "TXQ"), (0xb72, "FOOTPRINT"), (0xb74, "FOOTPRINT"),
    (0xb91, "CCTLT"), (0xb97, "SULD"), (0xb99, "SULD"), (0xb9b, "SUST"), (0xb9d, "SUST"), (0xbb3, "SUQUERY"),
    (0xdf0, "HGMMA"), (0xdf3, "QGMMA"),
    (0xf55, "BMOV"), (0xf56, "BMOV"), (0xf60, "TEX"), (0xf66, "TLD"),
];

/// Returns the name of an opcode that no row has.
pub(crate) fn name(opcode: u16) -> Option<&'static str> {
    let at = NAMES.binary_search_by_key(&opcode, |&(opcode, _)| opcode).ok()?;
    Some(NAMES[at].1)
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use crate::architecture::Architecture;

    #[test]
    fn names_are_sorted_and_have_no_rows() {
        assert!(NAMES.is_sorted_by_key(|&(opcode, _)| opcode));
        for (opcode, name) in NAMES {
            let mut rows = crate::table::rows_of(*opcode);
            assert!(!rows.any(|row| row.is_on(Architecture::Sm90)), "{name}");
        }
    }
}
