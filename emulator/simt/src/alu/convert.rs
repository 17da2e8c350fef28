//! `cvt`

use super::Form;
use super::engine::hot1;
use crate::lanes::CpuLevel;

pub(super) fn lookup(opcode: &str, modifiers: &[&str], level: CpuLevel) -> Option<Form> {
    if opcode != "cvt" {
        return None;
    }
    Some(match modifiers {
        ["u64", "u32"] | ["s64", "u32"] => hot1(level, |a: u32| a as u64),
        ["u64", "s32"] | ["s64", "s32"] => hot1(level, |a: i32| a as i64),
        ["u32" | "s32", "u64" | "s64"] => hot1(level, |a: u64| a as u32),
        ["rn", "f32", "u32"] => hot1(level, |a: u32| a as f32),
        ["rn", "f32", "s32"] => hot1(level, |a: i32| a as f32),
        ["rzi", "s32", "f32"] => hot1(level, |a: f32| a as i32),
        ["rzi", "u32", "f32"] => hot1(level, |a: f32| a as u32),
        ["f64", "f32"] => hot1(level, |a: f32| a as f64),
        ["rn", "f32", "f64"] => hot1(level, |a: f64| a as f32),
        _ => return None,
    })
}
