//! What a device answered beside what another one did.

use super::Fixture;

/// Tells whether an approximation is as close to the hardware's as the PTX manual promises of either: in units of the
/// last place, or absolutely or relatively where the manual says so.
fn is_close(hardware: u64, ours: u64, name: &str) -> bool {
    let name = name.split('#').next().unwrap_or(name);
    let words: Vec<&str> = name.split('.').collect();
    if !words.contains(&"approx") && !words.contains(&"full") {
        return false;
    }
    // Only the upper word means something.
    if name.ends_with("approx.ftz.f64") {
        return distance(hardware, ours, name) <= 2 << 32;
    }
    let (x, y) = (f32::from_bits(hardware as u32), f32::from_bits(ours as u32));
    let apart = (f64::from(x) - f64::from(y)).abs();
    let by_value = words.contains(&"f32")
        && match words[0] {
            // In the manual for a turn to either side; beyond, our angles are cut as the hardware's are.
            "sin" | "cos" => apart < 2f64.powf(-20.5),
            "lg2" => apart < 2f64.powi(-22),
            "tanh" => apart < 2f64.powi(-11) * f64::from(x.abs()),
            _ => false,
        };
    by_value || distance(hardware, ours, name) <= 2
}

/// Returns the bits of one result that a difference is counted in: the sign and magnitude of a float, put in order.
fn distance(a: u64, b: u64, name: &str) -> u64 {
    let words: Vec<&str> = name.split(['.', '#']).collect();
    let has = |word: &str| words.contains(&word);
    let bits = if has("f64") {
        64
    } else if has("f32") {
        32
    } else {
        16
    };
    let halves = if has("f16x2") || has("bf16x2") { 2 } else { 1 };
    let order = |v: u64| {
        let sign = 1u64 << (bits - 1);
        let v = v & (sign | (sign - 1));
        if v & sign != 0 { -i128::from(v & (sign - 1)) } else { i128::from(v) }
    };
    (0..halves).map(|h| order(a >> (16 * h)).abs_diff(order(b >> (16 * h))) as u64).max().unwrap_or(0)
}

pub fn difference(fixture: &Fixture, hardware: &[u64], ours: &[u64]) -> Option<String> {
    let differs = |(a, b): (&u64, &u64)| a != b && !is_close(*a, *b, &fixture.name);
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
