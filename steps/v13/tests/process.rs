//! Schedules on the emulated device, and whether their operations wait for all that they need.

use std::ops::Range;
use std::process::Command;
use std::sync::{Arc, Once};

use cudarc::driver::CudaContext;
use harness::Shape;
use v13::host::{Arrays, Kind};
use v13::pair::{Link, Pair};
use v13::process::Device;
use v13::schedule::{
    Op, OpKind, Operand, QUEUES, Queue, Schedule, Spread, chunks, panels, shells, split, tiles, whole,
};

fn context() -> Arc<CudaContext> {
    static DRIVER: Once = Once::new();
    DRIVER.call_once(|| {
        emulator_client::preload().expect("Cargo built it");
    });
    CudaContext::new(0).expect("there is a device")
}

fn shape([m, n, k]: [usize; 3]) -> Shape {
    Shape { m, n, k }
}

/// Square, with edges in every direction, thin, and less than a part.
const SHAPES: [[usize; 3]; 7] =
    [[256, 256, 256], [300, 260, 516], [131, 517, 257], [1, 300, 40], [300, 1, 7], [130, 3, 1000], [1, 1, 1]];
const MEMORY: usize = 100_000;

fn all(shape: Shape) -> Vec<(&'static str, Schedule)> {
    vec![
        ("whole", whole(shape)),
        ("chunks", chunks(shape, 3)),
        ("shells", shells(shape, 3)),
        ("panels", panels(shape, 2)),
        ("tiles", tiles(shape, MEMORY).expect("there is room")),
    ]
}

fn pairs(shape: Shape) -> Vec<(String, [Schedule; 2])> {
    let all = [Spread::Sent, Spread::Broadcast, Spread::Gathered].map(|spread| {
        [
            ("whole", split(shape, spread, whole)),
            ("chunks", split(shape, spread, |shape| chunks(shape, 3))),
            ("panels", split(shape, spread, |shape| panels(shape, 2))),
        ]
        .map(|(name, schedules)| (format!("{name} {spread:?}"), schedules.expect("there are two rows")))
    });
    all.into_iter().flatten().collect()
}

/// Returns the elements of A, B and C on this device that an operation reads and writes.
fn touches(op: &Op, rank: usize) -> Vec<(usize, Range<usize>, bool)> {
    match op.kind {
        OpKind::In(operand, block) => {
            let matrix = match operand {
                Operand::A => 0,
                Operand::B => 1,
            };
            vec![(matrix, block.at..block.at + block.rows * block.cols, true)]
        }
        OpKind::Multiply { shape, at, .. } => {
            let Shape { m, n, k } = shape;
            vec![
                (0, at[0]..at[0] + m * k, false),
                (1, at[1]..at[1] + k * n, false),
                (2, at[2]..at[2] + m * n, true),
            ]
        }
        OpKind::Out(block) => vec![(2, block.at..block.at + block.rows * block.cols, false)],
        OpKind::Exchange(exchange) => vec![(1, exchange.has(rank), false), (1, exchange.has(1 - rank), true)],
    }
}

fn meet(one: &Op, other: &Op, rank: usize) -> bool {
    touches(one, rank).iter().any(|(matrix, range, writes)| {
        touches(other, rank).iter().any(|(its, its_range, its_writes)| {
            matrix == its
                && (*writes || *its_writes)
                && range.start < its_range.end
                && its_range.start < range.end
        })
    })
}

/// Returns, for each operation, how many of each queue are certainly done when it begins.
fn done_before(schedule: &Schedule) -> Vec<[usize; QUEUES]> {
    let mut of_queue: [Vec<usize>; QUEUES] = Default::default();
    let mut before: Vec<[usize; QUEUES]> = Vec::new();
    for (i, op) in schedule.ops.iter().enumerate() {
        let mine = &of_queue[op.queue() as usize];
        let mut done = mine.last().map_or([0; QUEUES], |last| before[*last]);
        done[op.queue() as usize] = mine.len();
        for (queue, n) in op.waits_for.into_iter().flatten() {
            let awaited = of_queue[queue as usize][n - 1];
            for (done, also) in done.iter_mut().zip(before[awaited]) {
                *done = (*done).max(also);
            }
            done[queue as usize] = done[queue as usize].max(n);
        }
        of_queue[op.queue() as usize].push(i);
        before.push(done);
    }
    before
}

#[track_caller]
fn waits(name: &str, schedule: &Schedule, rank: usize) {
    let before = done_before(schedule);
    let mut places: Vec<usize> = Vec::new();
    let mut counts = [0; QUEUES];
    for op in &schedule.ops {
        places.push(counts[op.queue() as usize]);
        counts[op.queue() as usize] += 1;
    }
    let shape = schedule.shape;
    for (i, op) in schedule.ops.iter().enumerate() {
        for (matrix, range, _) in touches(op, rank) {
            assert!(range.end <= schedule.elements[matrix], "{shape} {name}: {op:?} is outside");
        }
        for (j, earlier) in schedule.ops[..i].iter().enumerate() {
            let ordered = before[i][earlier.queue() as usize] > places[j];
            assert!(
                ordered || !meet(op, earlier, rank),
                "{shape} {name}: {op:?} does not wait for {earlier:?}"
            );
        }
    }
}

#[test]
fn operations_wait_for_what_they_meet() {
    for sizes in SHAPES {
        let shape = shape(sizes);
        for (name, schedule) in all(shape) {
            waits(name, &schedule, 0);
            waits(name, &schedule.emptied(), 0);
        }
        if shape.m > 1 {
            for (name, [first, second]) in pairs(shape) {
                waits(&name, &first, 0);
                waits(&name, &second, 1);
            }
        }
    }
}

#[track_caller]
fn check(device: &Device, kind: Kind, sizes: [usize; 3]) {
    let shape = shape(sizes);
    let mut arrays = Arrays::new(&device.context, kind, shape).expect("there is room");
    for (name, schedule) in all(shape) {
        device.prepare(schedule.emptied()).expect("there is room").run(&mut arrays).expect("it ends well");
        arrays.poison_output().expect("nothing is at work");
        let mut process = device.prepare(schedule).expect("there is room");
        process.run(&mut arrays).expect("it ends well");
        assert_eq!(arrays.wrong_row(shape), Ok(None), "{sizes:?} {name} {kind:?}");
        arrays.poison_output().expect("nothing is at work");
        let graph = process.capture(&mut arrays).expect("all of it can be captured");
        process.replay(&graph).expect("it ends well");
        assert_eq!(arrays.wrong_row(shape), Ok(None), "{sizes:?} {name} {kind:?} as a graph");
    }
}

#[test]
fn every_way_is_right() {
    let device = Device::new(&context()).expect("the kernels load");
    check(&device, Kind::Pinned, [140, 260, 262]);
    check(&device, Kind::Pageable, [133, 5, 20]);
    check(&device, Kind::Pinned, [1, 1, 1]);
}

/// On one device twice: exchanges are copies from one place of it to another.
#[test]
fn every_way_on_two_devices_is_right() {
    let context = context();
    let [one, other] = [0, 1].map(|_| Device::new(&context).expect("the kernels load"));
    for sizes in [[300, 260, 261], [5, 130, 20], [2, 1, 1]] {
        let shape = shape(sizes);
        let mut arrays = Arrays::new(&context, Kind::Pinned, shape).expect("there is room");
        for (name, schedules) in pairs(shape) {
            arrays.poison_output().expect("nothing is at work");
            let mut pair = Pair::new([&one, &other], schedules, Link::Copies).expect("there is room");
            pair.run(&mut arrays).expect("it ends well");
            assert_eq!(arrays.wrong_row(shape), Ok(None), "{sizes:?} {name}");
        }
    }
}

/// Returns the bytes that the operations of a queue copy, of one operand or of all.
fn bytes(schedules: &[Schedule], queue: Queue, operand: Option<Operand>) -> usize {
    let ops = schedules.iter().flat_map(|schedule| &schedule.ops).filter(|op| op.queue() == queue);
    ops.filter(|op| operand.is_none_or(|it| matches!(op.kind, OpKind::In(of, _) if of == it)))
        .map(Op::bytes)
        .sum()
}

#[test]
fn two_devices_get_a_once_and_b_as_it_is_spread() {
    for sizes in SHAPES {
        let shape = shape(sizes);
        if shape.m == 1 {
            assert!(split(shape, Spread::Sent, whole).is_none(), "{sizes:?}");
            continue;
        }
        let Shape { m, n, k } = shape;
        for (name, schedules) in pairs(shape) {
            let bytes = |queue, operand| bytes(&schedules, queue, operand);
            assert_eq!(bytes(Queue::Out, None), 4 * m * n, "{sizes:?} {name}");
            assert_eq!(bytes(Queue::In, Some(Operand::A)), 4 * m * k, "{sizes:?} {name}");
            // Odd rows go to both.
            let (b, exchanged) = (bytes(Queue::In, Some(Operand::B)), bytes(Queue::Peer, None) / 2);
            assert_eq!(b + exchanged, 8 * k * n, "{sizes:?} {name}");
        }
    }
}

#[test]
fn one_wrong_element_is_noticed() {
    let device = Device::new(&context()).expect("the kernels load");
    // A row of C is multiplied with a vector, which must have a zero nowhere.
    let places = |[m, n, _]: [usize; 3]| (0..n).map(move |col| (col % m, col));
    for sizes in [[40, 50, 60], [2, 1100, 3]] {
        let shape = shape(sizes);
        let mut arrays = Arrays::new(&device.context, Kind::Pageable, shape).expect("there is room");
        let mut process = device.prepare(whole(shape)).expect("there is room");
        process.run(&mut arrays).expect("it ends well");
        for (row, col) in places(sizes) {
            let at = row * shape.n + col;
            let right = arrays.c.get().expect("nothing is at work")[at];
            for wrong in [right + 1.0, f32::NAN] {
                arrays.c.get_mut().expect("nothing is at work")[at] = wrong;
                assert_eq!(arrays.wrong_row(shape), Ok(Some(row)), "C[{row}][{col}] = {wrong}");
            }
            arrays.c.get_mut().expect("nothing is at work")[at] = right;
        }
        assert_eq!(arrays.wrong_row(shape), Ok(None));
    }
}

#[test]
fn tiles_keep_to_their_memory() {
    for sizes in SHAPES {
        for limit in [3072, 10_000, MEMORY, 1_000_000] {
            let Ok(schedule) = tiles(shape(sizes), limit) else { continue };
            let bytes = schedule.elements.iter().sum::<usize>() * size_of::<f32>();
            assert!(bytes <= limit, "{sizes:?}: {bytes} of {limit}");
        }
    }
    let error = tiles(shape([256; 3]), 100).expect_err("too little");
    assert_eq!(
        error,
        "100 bytes of device memory are too few: two blocks of each matrix, the least, take 3072"
    );
}

#[test]
fn all_is_copied_once() {
    for sizes in SHAPES {
        let shape = shape(sizes);
        let Shape { m, n, k } = shape;
        for (name, schedule) in all(shape) {
            let bytes = |queue| bytes(std::slice::from_ref(&schedule), queue, None);
            assert_eq!(bytes(Queue::Out), 4 * m * n, "{sizes:?} {name}");
            if name != "tiles" {
                assert_eq!(bytes(Queue::In), 4 * (m * k + k * n), "{sizes:?} {name}");
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_not_measured() {
    for task in ["run", "two", "measure"] {
        let output = Command::new(env!("CARGO_BIN_EXE_v13"))
            .args([task, "--json", "no/such/folder/v13.json"])
            .output()
            .expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b""[..]), "{task}: {errors}");
        assert!(errors.starts_with("error: cannot write no/such/folder/v13.json: "), "{task}: {errors}");
    }
}
