//! v00: C = A · B on the CPU, six times. No kernels: the first rung is what the GPU is compared with.

use std::process::ExitCode;

use harness::{Cpu, Kernel};

/// Largest M · N · K for which it is worth waiting for the textbook's loops.
const PATIENCE: f64 = 1024.0 * 1024.0 * 1024.0;
/// Largest M · N · K for one core that uses its caches.
const MORE_PATIENCE: f64 = 8.0 * PATIENCE;

fn main() -> ExitCode {
    let kernels = v00::VARIANTS.map(|(name, multiply)| {
        let largest = match name {
            "cpu_serial" => PATIENCE,
            "cpu_reordered" | "cpu_blocked" => MORE_PATIENCE,
            _ => f64::INFINITY,
        };
        let cpu = Cpu {
            multiply,
            largest,
            bound: (name == "cpu_strassen").then_some(v00::strassen::error_bound as _),
            yardstick: ("the library", v00::library::multiply),
        };
        Kernel::cpu(name, cpu)
    });
    harness::main("v00", &kernels)
}
