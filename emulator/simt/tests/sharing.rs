//! Memory that several host threads use at the same time: workers of a launch, launches, copies, the host program.
//!
//! Passes as an ordinary test; ThreadSanitizer finds data races in it: `src/memory/relaxed.rs` has the command.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use common::Device;
use simt::{launch::CheckLevel, memory::Origin};

const TALLY: &str = include_str!("ptx/tally.ptx");

/// Blocks on two workers, two launches and copies by the host, all on the same counters.
#[test]
fn launches_and_copies_share_memory() {
    const BLOCKS: u32 = 64;
    const THREADS: u32 = 128;
    let device = Device::new(TALLY).check_level(CheckLevel::Count);
    let n = (BLOCKS * THREADS) as usize;
    let counter = device.words(&[0; 64]);
    let own: [u64; 2] = std::array::from_fn(|_| device.words(&vec![0; n]));
    thread::scope(|scope| {
        let device = &device;
        let launches = own.map(|own| scope.spawn(move || device.run(BLOCKS, THREADS, &[counter.into(), own.into()])));
        let mut last = 0;
        while !launches.iter().all(thread::ScopedJoinHandle::is_finished) {
            let now = device.read(counter, 1)[0];
            assert!(now >= last, "a count fell from {last} to {now}");
            last = now;
            // Another part of the allocation that the launches count in.
            device.gpu.memory.fill(counter + 32, &[7], 100).expect("in range");
            device.gpu.memory.copy(counter + 101, counter + 32, 90).expect("in range");
        }
    });
    let counts = device.read(counter, 4);
    assert_eq!(counts[0], 2 * BLOCKS * THREADS);
    assert_eq!(counts[2], 3 * 2 * BLOCKS * THREADS);
    for own in own {
        let expected: Vec<u32> = (0..n as u32).map(|i| i & !0xFFFF | (i + 1) & 0xFFFF).collect();
        assert_eq!(device.read(own, n), expected);
    }
}

/// A kernel polls a flag that the host sets, and answers, in memory that both have mapped.
#[test]
fn the_host_and_a_kernel_hand_over_words() {
    const ECHO: &str = include_str!("ptx/echo.ptx");
    let device = Device::new(ECHO).check_level(CheckLevel::Off);
    let mailbox: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
    let start = mailbox.as_ptr().cast::<u8>().cast_mut();
    // SAFETY: the words outlive the launch and the mapping, and are atomics.
    let mapped = unsafe { device.gpu.memory.map_host(start, 256, Origin::new("mailbox")) }.expect("free");
    thread::scope(|scope| {
        let launch = scope.spawn(|| device.run(1, 1, &[mapped.into()]));
        for round in 1..=50 {
            mailbox[2].store(10 * round, Ordering::Relaxed);
            mailbox[3].store(round, Ordering::Relaxed);
            mailbox[0].store(round, Ordering::Release);
            while mailbox[4].load(Ordering::Acquire) != round {
                assert!(!launch.is_finished(), "the kernel gave up in round {round}");
                thread::yield_now();
            }
            assert_eq!(mailbox[1].load(Ordering::Relaxed), 11 * round);
        }
    });
    device.gpu.memory.unmap_host(mapped).expect("mapped");
}
