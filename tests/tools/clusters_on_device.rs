//! Runs the cases of `tests::clusters` and `tests::phases` on whatever device is there and prints what they saw.
//!
//! `cargo run -p tests --example clusters_on_device`
//!
//! One line per case, with the answer that the case holds where that differs. Each case runs in a process of its own,
//! because some of them take the context down. `--launches` asks for the results of launches and queries (those of an
//! H200 are in `tests/data/clusters/launches.txt`), `--ptx INDEX` prints the kernel of a case.

#[path = "device/mod.rs"]
mod device;

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::process::Command;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUfunction_attribute as Of};
use tests::UNSEEN;
use tests::clusters::{Case, module_with};
use tests::steps::{Steps, all};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let all = all();
    let case =
        |index: &str| -> Result<&Steps, Box<dyn Error>> { Ok(all.get(index.parse::<usize>()?).ok_or("no such case")?) };
    match arguments[..] {
        ["--ptx", index] => out.write_all(case(index)?.module.as_bytes())?,
        ["--case", index] => writeln!(out, "{}", run(case(index)?).unwrap_or_else(|why| why))?,
        ["--launches"] => {
            device::open()?;
            launches(&mut out)?;
        }
        _ => {
            let program = std::env::current_exe()?;
            for (index, Steps { name, expected, .. }) in all.iter().enumerate() {
                let output = Command::new(&program).args(["--case", &index.to_string()]).output()?;
                let text = String::from_utf8_lossy(&output.stdout);
                let answer = text.trim_end();
                match expected {
                    Ok(expected) if *expected != answer => writeln!(out, "{name}: {answer} (not {expected})")?,
                    _ => writeln!(out, "{name}: {answer}")?,
                }
            }
        }
    }
    Ok(())
}

fn with_config<T>(
    cluster: Option<[u32; 3]>, grid: [u32; 3], block: u32, f: impl FnOnce(&sys::CUlaunchConfig) -> T,
) -> T {
    let mut attributes = Vec::new();
    if let Some([x, y, z]) = cluster {
        // SAFETY: plain data, for which zeros are a value.
        let mut attribute: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
        attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim.x = x;
        attribute.value.clusterDim.y = y;
        attribute.value.clusterDim.z = z;
        attributes.push(attribute);
    }
    // SAFETY: plain data, for which zeros are a value.
    let mut config: sys::CUlaunchConfig = unsafe { std::mem::zeroed() };
    [config.gridDimX, config.gridDimY, config.gridDimZ] = grid;
    [config.blockDimX, config.blockDimY, config.blockDimZ] = [block, 1, 1];
    config.attrs = attributes.as_mut_ptr();
    config.numAttrs = attributes.len() as u32;
    f(&config)
}

fn run(case: &Steps) -> Result<String, String> {
    device::open()?;
    let kernel = device::load(&case.module, c"steps")?;
    let mut seen = vec![UNSEEN; case.n_seen];
    let (mut global, mut results) = (device::upload(&case.memory)?, device::upload(&seen)?);
    let mut arguments: [*mut c_void; 2] = [(&raw mut global).cast(), (&raw mut results).cast()];
    // SAFETY: the kernel has these parameters, and buffers of these sizes.
    let launched = with_config(case.cluster, case.grid, 32, |config| unsafe {
        sys::cuLaunchKernelEx(config, kernel, arguments.as_mut_ptr(), null_mut())
    });
    device::finish(launched, &mut [(&mut seen, results)], "stopped by:")?;
    Ok((case.shown)(&seen))
}

fn launches(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let case = Case { name: "", cluster: None, grid: [1; 3], body: "see %r3" };
    let mut value: c_int = 0;
    let cluster_launch = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
    // SAFETY: a pointer to a local.
    let code = unsafe { sys::cuDeviceGetAttribute(&mut value, cluster_launch, 0) };
    writeln!(out, "CLUSTER_LAUNCH: {code:?} {value}")?;
    let queries = [
        ("must be set", Of::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
        ("width", Of::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
        ("height", Of::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
        ("depth", Of::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
        ("non-portable", Of::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
        ("policy", Of::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE),
    ];
    let directives = [
        "",
        " .reqnctapercluster 2, 1, 1",
        " .explicitcluster .reqnctapercluster 2, 1, 1",
        " .explicitcluster",
        " .maxclusterrank 4",
        " .explicitcluster .reqnctapercluster 16, 1, 1",
    ];
    #[rustfmt::skip]
    let launches: [(Option<[u32; 3]>, [u32; 3]); 13] = [
        (None, [8, 1, 1]), (None, [3, 1, 1]), (Some([1, 1, 1]), [8, 1, 1]), (Some([2, 1, 1]), [8, 1, 1]),
        (Some([2, 1, 1]), [7, 1, 1]), (Some([1, 2, 1]), [8, 1, 1]), (Some([3, 1, 1]), [6, 1, 1]),
        (Some([0, 1, 1]), [8, 1, 1]), (Some([0, 0, 0]), [8, 1, 1]), (Some([8, 1, 1]), [8, 1, 1]),
        (Some([9, 1, 1]), [9, 1, 1]), (Some([16, 1, 1]), [16, 1, 1]), (Some([32, 1, 1]), [32, 1, 1]),
    ];
    let mut words = device::upload(&[0; 1 << 14])?;
    let mut results = words;
    let mut arguments: [*mut c_void; 2] = [(&raw mut words).cast(), (&raw mut results).cast()];
    let mut launch = |kernel, cluster, grid| {
        // SAFETY: the kernel has these parameters, and its results fit.
        let code = with_config(cluster, grid, 32, |config| unsafe {
            sys::cuLaunchKernelEx(config, kernel, arguments.as_mut_ptr(), null_mut())
        });
        // SAFETY: no arguments.
        let end = unsafe { sys::cuCtxSynchronize() };
        format!("{code:?} {end:?}")
    };
    for directives in directives {
        let mut answer = |text: String| writeln!(out, "[{directives}] {text}");
        let kernel = match device::load(&module_with(&case, directives), c"steps") {
            Ok(kernel) => kernel,
            Err(why) => {
                answer(why)?;
                continue;
            }
        };
        for (name, attribute) in queries {
            let mut value: c_int = -77;
            // SAFETY: a pointer to a local.
            let code = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, kernel) };
            answer(format!("{name}: {code:?} {value}"))?;
        }
        for allowed in [0, 1] {
            if allowed == 1 {
                // SAFETY: plain arguments.
                let code = unsafe {
                    let which = Of::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
                    sys::cuFuncSetAttribute(kernel, which, 1)
                };
                answer(format!("allow: {code:?}"))?;
            }
            for (cluster, grid) in launches {
                if allowed == 0 || cluster.is_some_and(|cluster| cluster[0] > 8) {
                    answer(format!("{allowed} {cluster:?} {grid:?}: {}", launch(kernel, cluster, grid)))?;
                }
            }
            for (cluster, threads) in
                [(1, 32), (2, 32), (4, 32), (8, 32), (16, 32), (2, 1024), (8, 1024), (3, 1024), (16, 1024)]
            {
                let mut n: c_int = -77;
                // SAFETY: pointers to locals.
                let code = with_config(Some([cluster, 1, 1]), [cluster * 4, 1, 1], threads, |config| unsafe {
                    sys::cuOccupancyMaxActiveClusters(&mut n, kernel, config)
                });
                answer(format!("{allowed} active clusters of {cluster} with {threads}: {code:?} {n}"))?;
            }
            for threads in [32, 1024] {
                let mut n: c_int = -77;
                // SAFETY: pointers to locals.
                let code = with_config(None, [16, 1, 1], threads, |config| unsafe {
                    sys::cuOccupancyMaxPotentialClusterSize(&mut n, kernel, config)
                });
                answer(format!("{allowed} potential size with {threads}: {code:?} {n}"))?;
            }
        }
        let [_, (_, width), (_, height), (_, depth), _, (_, policy)] = queries;
        for (which, value) in [(width, 4), (height, 1), (depth, 1), (width, -1), (policy, 1), (policy, 3)] {
            // SAFETY: plain arguments.
            let code = unsafe { sys::cuFuncSetAttribute(kernel, which, value) };
            answer(format!("set {} {value}: {code:?}", which as u32))?;
        }
        for (cluster, grid) in [(None, [8, 1, 1]), (None, [6, 1, 1]), (Some([2, 1, 1]), [8, 1, 1])] {
            answer(format!("behind set {cluster:?} {grid:?}: {}", launch(kernel, cluster, grid)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod hardware {
    use super::*;

    const HARDWARE: &str = include_str!("../data/clusters/launches.txt");

    #[test]
    fn launches_and_queries_end_as_on_hardware() {
        emulator_client::preload().expect("Cargo built the library");
        let emulator = emulator_client::find().expect("the emulated driver is loaded");
        // Launches that are refused are not news.
        emulator.set_diagnosis(Some(false));
        device::open().expect("a device");
        let mut out = Vec::new();
        launches(&mut out).expect("it answers");
        let ours = String::from_utf8(out).expect("text");
        let theirs: Vec<&str> = HARDWARE.lines().filter(|line| !line.starts_with('#')).collect();
        let ours: Vec<&str> = ours.lines().collect();
        assert_eq!(ours.len(), theirs.len());
        let wrong: Vec<String> = { ours.iter().zip(&theirs) }
            .filter(|(ours, theirs)| ours != theirs)
            .map(|(ours, theirs)| format!("{ours}\n  and not {theirs}"))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
