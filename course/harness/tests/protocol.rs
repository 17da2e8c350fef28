//! The timing protocol on the emulated device: what it keeps, not how long anything takes.

use cudarc::driver::{LaunchConfig, PushKernelArg};
use harness::duel::{Plan, Turns};
use harness::inputs::{Data, elements};
use harness::session::{self, Launch, Session};
use harness::{Gpu, StepError, timing};
use records::record::VerifiedRun;

const PTX: &str = include_str!("../../../kernels/ptx/v01_col_per_lane.ptx");
const N: usize = 8;

fn gpu() -> Gpu {
    emulator_client::preload().expect("Cargo built the library");
    Gpu::open().expect("the emulated device is always there")
}

fn launch(gpu: &Gpu) -> Launch<'_, f32> {
    let kernel = session::load(gpu, PTX, "sgemm_v01_col_per_lane").expect("a kernel of the file");
    Box::new(move |operands| {
        let n = N as i32;
        let b = operands.b.expect("a product has two inputs");
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&n).arg(&n).arg(&n).arg(operands.a).arg(b).arg(operands.c);
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: the arguments are what the kernel takes, and all three buffers have N * N elements.
        unsafe { launch.launch(config) }?;
        Ok::<(), StepError>(())
    })
}

#[test]
fn times_are_quartiles_and_the_yardstick_stands_beside() {
    let gpu = gpu();
    let a = elements::<f32>(Data::Reals, 1, 0, N, N * N);
    let mut session = Session::new(&gpu, launch(&gpu), &a, Some(&a), N * N).expect("a little memory");
    let copy = timing::copy::<f32>(&gpu, N * N).expect("a little memory");
    let mut timed = VerifiedRun::default();
    timing::time(&gpu, &mut session, Some(copy), None, &mut timed).expect("the kernel is right");
    let hot = timed.hot.expect("it was timed");
    let is_plausible =
        |samples: &records::Samples| samples.0.len() == 5 && samples.0.iter().all(|ms| ms.is_finite() && *ms >= 0.0);
    assert!(is_plausible(&hot), "{hot:?}");
    assert!(timed.cold.as_ref().is_some_and(is_plausible));
    let yardstick = timed.yardstick.expect("it was asked for");
    assert_eq!(yardstick.name, "copy");
    assert_eq!(yardstick.hot.0.len(), hot.0.len());
    assert_eq!(timed.clock_mhz, None, "the emulated device has no clock");

    let whole = timing::whole(&gpu, &launch(&gpu), &a, Some(&a), N * N).expect("the kernel is right");
    assert!(whole.0.len() >= 3 && whole.0.iter().all(|ms| *ms > 0.0));
}

#[test]
fn a_duel_has_rounds_with_pauses_and_without() {
    let gpu = gpu();
    let a = elements::<f32>(Data::Reals, 1, 0, N, N * N);
    let mut session = Session::new(&gpu, launch(&gpu), &a, Some(&a), N * N).expect("a little memory");
    let copy = timing::copy::<f32>(&gpu, N * N).expect("a little memory");
    let turns = Turns { warm_up_ms: 1.0, settle_ms: 4.0, piece_ms: 2.0, max_ms: 50.0 };
    let plan = Plan { pause_ms: 3.0, bursts_ms: 50.0, turns: Some(turns) };
    let mut timed = VerifiedRun::default();
    timing::time(&gpu, &mut session, Some(copy), Some(plan), &mut timed).expect("the kernel is right");
    let duel = timed.yardstick.and_then(|yardstick| yardstick.duel);
    let duel = duel.expect("it was asked for");
    assert_eq!((duel.piece_and_pause, duel.settle_ms), ([2.0, 3.0], 4.0));
    for speed in [duel.sustained.expect("there were turns"), duel.burst] {
        assert!((3..=15).contains(&speed.rounds), "{speed:?}");
        assert!(
            [speed.kernel_ms, speed.yardstick_ms, speed.times].iter().all(|n| n.is_finite() && *n > 0.0),
            "{speed:?}"
        );
    }
}

#[test]
fn fresh_output_is_full_of_nan() {
    let gpu = gpu();
    let single = gpu.poisoned::<f32>(5).expect("a little memory");
    let double = gpu.poisoned::<f64>(5).expect("a little memory");
    let single = gpu.stream.clone_dtoh(&single).expect("to copy");
    let double = gpu.stream.clone_dtoh(&double).expect("to copy");
    assert!(single.iter().all(|v| harness::inputs::Real::is_poison(*v)));
    assert!(double.iter().all(|v| harness::inputs::Real::is_poison(*v)));
}
