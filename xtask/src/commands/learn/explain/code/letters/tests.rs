use super::*;

#[test]
fn a_letter_is_what_most_clocks_went_to() {
    let machine: MachineCodeExplanation = serde_json::from_str(
        r#"{"target": "sm_90", "shape": {"m": 1, "n": 1, "k": 1}, "grid": [1, 1, 1], "block": [32, 1, 1],
                "registers": 8, "shared_bytes": 0, "local_bytes": 0, "instructions": []}"#,
    )
    .expect("a record of an earlier day");
    let slot = |clock, waited| Slot { clock, warp: 0, instruction: 0, waited };
    // A slot behind the end shows only what the last clocks were spent on.
    let slots = [slot(0, None), slot(5, Some(Reason::Global)), slot(9, Some(Reason::Barrier))];
    let said = |each| letters(&machine, &slots, 8, each).into_iter().collect::<String>();
    assert_eq!(said(1), "OggggObb");
    assert_eq!(said(2), "OgOb");
    assert_eq!(said(8), "g");
}
