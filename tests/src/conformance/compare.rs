//! What a device answered beside what another one did.

use super::Fixture;

pub fn difference(fixture: &Fixture, hardware: &[u64], ours: &[u64]) -> Option<String> {
    let differs = |(a, b): (&u64, &u64)| a != b;
    let n = hardware.iter().zip(ours).filter(|&pair| differs(pair)).count();
    if hardware.len() != ours.len() {
        return Some(format!("{} results, not {}", ours.len(), hardware.len()));
    }
    let at = hardware.iter().zip(ours).position(differs)?;
    let (thread, result, all) = (at / fixture.outs, at % fixture.outs, ours.len());
    let [a, b, c] = fixture.inputs.each_ref().map(|list| list[thread]);
    let (gpu, ours) = (hardware[at], ours[at]);
    Some(format!(
        "{n} of {all} differ; thread {thread}, inputs {a:#x} {b:#x} {c:#x}, result {result}: GPU {gpu:#x}, ours {ours:#x}"
    ))
}
