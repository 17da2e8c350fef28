//! Barriers in shared memory and bulk copies, used the same way on a GPU and on the emulator.
//!
//! Each case is a line of steps that one thread takes, and what it sees. The example `clusters_on_device` asks a GPU;
//! `it/steps.rs` asks the emulator. The answers are what the PTX manual defines, and what an H200 gave to all of them.

use std::fmt::Write as _;

/// Words of global memory that copies read and write, and bytes of shared memory.
pub const WORDS: usize = 512;
pub const SEEN: usize = 16;
/// Content of a word of the result before a case writes it.
pub const UNSEEN: u32 = 0xFFFF_FFFF;

/// A name, steps separated by `;`, and the words that are seen.
///
/// Steps, on the barrier at hand:
/// - `init N`, `inval`, `arrive`, `arrive N`, `arrive+expect B`, `drop`, `drop N`, `part N` (`.noComplete`),
///   `expect B`, `complete B`
/// - `test P`, `try P` (by parity), `state` (by what the last arrival returned): sees 1 if the phase has ended
/// - `wait P`: tries up to 1000 times, sees 1 in the end
/// - `pending`: sees the arrivals in what the last arrival returned
/// - `barrier I`: takes the next of four barriers; `offset B`: takes one that lies B bytes behind the first
/// - `load TO FROM B`, `store FROM TO B`: bulk copies, offsets in bytes; `commit`, `group N`, `read N`
/// - `cp TO FROM`: `cp.async` of 16 bytes; `cp arrive`, `cp arrive noinc`
/// - `put AT V`, `get AT`, `look AT`: a word of shared memory written, seen; a word of global memory seen; `proxy`: the
///   fence
pub type Case = (&'static str, &'static str, &'static [u32]);

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    ("fresh, parity 0", "init 1; test 0; test 0", &[0, 0]),
    ("fresh, parity 1", "init 1; test 1; try 1", &[1, 1]),
    ("one arrival", "init 1; arrive; test 0; test 1", &[1, 0]),
    ("two phases", "init 1; arrive; arrive; test 0; test 1; try 1", &[0, 1, 1]),
    ("three phases", "init 1; arrive; arrive; arrive; test 0; test 1", &[1, 0]),
    ("two arrivals", "init 2; arrive; test 0; arrive; test 0; test 1", &[0, 1, 0]),
    ("arrivals at once", "init 5; arrive 2; test 0; arrive 3; test 0", &[0, 1]),
    ("arrivals come back", "init 2; arrive 2; arrive; test 1; arrive; test 1", &[0, 1]),
    ("most arrivals", "init 1048575; arrive 1048574; test 0; arrive; test 0", &[0, 1]),
    ("by state", "init 2; arrive; state; arrive; state", &[0, 1]),
    ("by state of two phases", "init 1; arrive; state; arrive; state", &[1, 1]),
    ("made again", "init 1; arrive; test 0; inval; init 1; test 0; test 1", &[1, 0, 1]),
    ("made again without inval", "init 2; arrive; init 1; arrive; test 0", &[1]),
    ("dropped", "init 2; drop; test 0; arrive; test 0; arrive; test 1", &[0, 1, 1]),
    ("dropped by two", "init 3; drop 2; arrive; test 0; arrive; test 1", &[1, 1]),
    ("parts", "init 3; part 1; pending; part 1; pending; test 0; arrive; test 0", &[3, 2, 0, 1]),
    ("parts of many", "init 70000; part 5; pending; part 69990; pending", &[70000, 69995]),
    ("expected, then completed", "init 1; expect 16; arrive; test 0; complete 16; test 0", &[0, 1]),
    ("completed in parts", "init 1; arrive+expect 48; complete 16; test 0; complete 32; test 0", &[0, 1]),
    ("completed before the arrival", "init 1; expect 16; complete 16; test 0; arrive; test 0", &[0, 1]),
    ("completed before expected", "init 1; complete 16; test 0; expect 16; test 0; arrive; test 0", &[0, 0, 1]),
    ("completed before arrive+expect", "init 1; complete 16; arrive+expect 16; test 0; test 1", &[1, 0]),
    ("expected twice", "init 2; arrive+expect 16; arrive+expect 16; complete 16; test 0; complete 16; test 0", &[0, 1]),
    ("no bytes", "init 1; arrive+expect 0; test 0", &[1]),
    ("most bytes", "init 1; arrive+expect 1048575; test 0; complete 1048575; test 0", &[0, 1]),
    ("bytes in two phases", "init 1; arrive+expect 16; complete 16; test 0; arrive+expect 32; test 1; complete 32; test 1", &[1, 0, 1]),
    ("two barriers", "init 1; barrier 1; init 1; arrive; test 0; barrier 0; test 0", &[1, 0]),
    ("load", "init 1; arrive+expect 64; load 128 32 64; wait 0; get 128; get 188", &[1, 8, 23]),
    ("load before it is expected", "init 1; load 0 0 16; arrive+expect 16; wait 0; get 12", &[1, 3]),
    ("two loads", "init 1; arrive+expect 48; load 0 64 16; load 16 0 32; wait 0; get 0; get 16; get 44", &[1, 16, 0, 7]),
    ("load of no bytes", "init 1; put 0 7; arrive+expect 0; load 0 64 0; wait 0; get 0", &[1, 7]),
    ("loads of two phases", "init 1; arrive+expect 16; load 0 0 16; wait 0; get 4; proxy; arrive+expect 16; load 0 64 16; wait 1; get 4", &[1, 1, 1, 17]),
    ("loads to two barriers", "init 1; barrier 1; init 1; arrive+expect 16; load 16 64 16; barrier 0; arrive+expect 16; load 0 0 16; wait 0; get 4; barrier 1; wait 0; get 20", &[1, 1, 1, 17]),
    ("store", "put 0 1000; put 60 1015; proxy; store 0 128 64; commit; group 0; look 128; look 188; look 192", &[1000, 1015, 48]),
    ("store of two groups", "put 0 1000; put 16 1004; proxy; store 0 0 16; commit; store 16 64 16; commit; group 1; look 0; group 0; look 64", &[1000, 1004]),
    ("store that was read", "put 0 1000; proxy; store 0 0 16; commit; read 0; put 0 2000; group 0; look 0", &[1000]),
    ("copies arrive", "init 1; cp 0 64; cp arrive noinc; wait 0; get 0; get 12", &[1, 16, 19]),
    ("copies arrive and count", "init 1; cp 0 64; cp arrive; arrive; wait 0; get 0; test 1", &[1, 16, 0]),
    ("copies of two threads' worth", "init 2; cp 0 64; cp arrive noinc; test 0; cp 16 0; cp arrive noinc; wait 0; get 0; get 20", &[0, 1, 16, 1]),
    ("copies of two phases", "init 1; cp 0 64; cp arrive noinc; wait 0; get 0; cp 0 0; cp arrive noinc; wait 1; get 4", &[1, 16, 1, 1]),
    ("no copies arrive", "init 1; cp arrive noinc; wait 0", &[1]),
];

/// Cases that are not defined: a GPU stops, or what it answers means nothing. Each with how the emulator's answer
/// starts.
#[rustfmt::skip]
pub const WRONG: &[(&str, &str, &str)] = &[
    ("no arrivals", "init 0; test 0", "error[E-MBARRIER]: mbarrier.init with an arrival count that is out of range"),
    ("too many arrivals to count", "init 1048576; test 0", "error[E-MBARRIER]: mbarrier.init with an arrival count that is out of range"),
    ("barrier at 4", "offset 4; init 1; test 0", "error[E-ALIGN]: 8-byte atomic update at an address that is only 4-byte aligned"),
    ("barrier far past the end", "offset 1048576; init 1; test 0", "error[E-OOB]: atomic update past the end of `barriers`"),
    ("never made", "arrive; test 0", "error[E-MBARRIER]: use of an mbarrier that was not initialised"),
    ("after its end", "init 1; inval; arrive", "error[E-MBARRIER]: use of an mbarrier that was not initialised"),
    ("too many arrivals", "init 1; arrive 2; test 0; test 1", "error[E-MBARRIER]: more arrivals than the mbarrier expects"),
    ("arrival while bytes are missing", "init 1; arrive+expect 16; arrive; test 0; complete 16; test 0; test 1", "error[E-MBARRIER]: arrival at an mbarrier whose phase has not completed"),
    ("part that is all", "init 1; part 1; test 0", "error[E-MBARRIER]: a .noComplete arrival that completes the phase"),
    ("too many bytes", "init 1; arrive+expect 1048576; complete 1048576; test 0", "error[E-MBARRIER]: an mbarrier phase expects more bytes than it can count"),
    ("bytes that never come", "init 1; arrive+expect 32; load 0 0 16; wait 0", "0"),
    ("all dropped", "init 1; drop; test 0; test 1", "1 1"),
    ("more dropped than each phase has", "init 1; cp 0 64; cp arrive; drop 2; test 0; test 1", "1 1"),
    ("load of 8 bytes", "init 1; arrive+expect 8; load 0 0 8; wait 0; get 0", "error[E-OPERAND]: a bulk copy of 8 bytes, which is not a multiple of 16"),
    ("load to 8", "init 1; arrive+expect 16; load 8 0 16; wait 0; get 8", "error[E-ALIGN]: 16-byte write at an address that is only 8-byte aligned"),
    ("load from 8", "init 1; arrive+expect 16; load 0 8 16; wait 0; get 0", "error[E-ALIGN]: 16-byte read at an address that is only 8-byte aligned"),
    ("load far past the end", "init 1; arrive+expect 16; load 1048576 0 16; wait 0", "error[E-OOB]: write past the end of `barriers`"),
    ("store of 24 bytes", "proxy; store 0 0 24; commit; group 0; look 16", "error[E-OPERAND]: a bulk copy of 24 bytes, which is not a multiple of 16"),
    ("store from 8", "proxy; store 8 0 16; commit; group 0; look 0", "error[E-ALIGN]: 16-byte read at an address that is only 8-byte aligned"),
];

/// Returns the module with the kernel `steps` that takes these steps.
pub fn module(steps: &str) -> String {
    let mut text = format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n\n\
         .visible .entry steps(.param .u64 p_memory, .param .u64 p_seen)\n{{\n\
         \x20   .shared .align 128 .b8 box[{}];\n    .shared .align 8 .b64 barriers[4];\n\
         \x20   .reg .pred %p<4>;\n    .reg .b32 %r<8>;\n    .reg .b64 %d<8>;\n\
         \x20   mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p1, %r1, 0;\n    @%p1 ret;\n\
         \x20   ld.param.u64 %d1, [p_memory];\n    cvta.to.global.u64 %d1, %d1;\n\
         \x20   ld.param.u64 %d2, [p_seen];\n    cvta.to.global.u64 %d2, %d2;\n\
         \x20   mov.u32 %r2, barriers;\n    mov.u32 %r3, box;\n",
        4 * WORDS
    );
    let with_number = |n: &str, operation: &str, result: &str| {
        format!("mov.u32 %r4, {n}; mbarrier.{operation}.shared::cta.b64 {result}[%r2], %r4")
    };
    let (mut n_seen, mut n_loops) = (0, 0);
    for step in steps.split("; ") {
        let words: Vec<&str> = step.split(' ').collect();
        let mut see = || {
            n_seen += 1;
            format!("st.global.u32 [%d2+{}], %r5", 4 * (n_seen - 1))
        };
        let lines = match words[..] {
            ["init", n] => with_number(n, "init", "") + "; fence.mbarrier_init.release.cluster",
            ["inval"] => "mbarrier.inval.shared::cta.b64 [%r2]".to_owned(),
            ["arrive"] => "mbarrier.arrive.shared::cta.b64 %d3, [%r2]".to_owned(),
            ["arrive", n] => with_number(n, "arrive.release.cta", "%d3, "),
            ["arrive+expect", n] => with_number(n, "arrive.expect_tx", "%d3, "),
            ["drop"] => "mbarrier.arrive_drop.shared::cta.b64 %d3, [%r2]".to_owned(),
            ["drop", n] => with_number(n, "arrive_drop", "%d3, "),
            ["part", n] => with_number(n, "arrive.noComplete", "%d3, "),
            ["expect", n] => with_number(n, "expect_tx.relaxed.cta", ""),
            ["complete", n] => with_number(n, "complete_tx.relaxed.cta", ""),
            [kind @ ("test" | "try"), parity] => format!(
                "mbarrier.{kind}_wait.parity.shared::cta.b64 %p2, [%r2], {parity}; selp.u32 %r5, 1, 0, %p2; {}",
                see()
            ),
            ["state"] => {
                format!("mbarrier.test_wait.shared::cta.b64 %p2, [%r2], %d3; selp.u32 %r5, 1, 0, %p2; {}", see())
            }
            ["wait", parity] => {
                n_loops += 1;
                format!(
                    "mov.u32 %r4, 0;\nagain{n_loops}:\n    \
                     mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], {parity}; add.u32 %r4, %r4, 1; \
                     setp.lt.and.u32 %p3, %r4, 1000, !%p2; @%p3 bra again{n_loops}; selp.u32 %r5, 1, 0, %p2; {}",
                    see()
                )
            }
            ["pending"] => format!("mbarrier.pending_count.b64 %r5, %d3; {}", see()),
            ["barrier", i] => format!("mov.u32 %r2, barriers; add.u32 %r2, %r2, {i} * 8"),
            ["offset", n] => format!("mov.u32 %r2, barriers; add.u32 %r2, %r2, {n}"),
            ["load", to, from, bytes] => format!(
                "mov.u32 %r4, {bytes}; add.u32 %r6, %r3, {to}; add.u64 %d4, %d1, {from}; \
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%d4], %r4, [%r2]"
            ),
            ["store", from, to, bytes] => format!(
                "mov.u32 %r4, {bytes}; add.u32 %r6, %r3, {from}; add.u64 %d4, %d1, {to}; \
                 cp.async.bulk.global.shared::cta.bulk_group [%d4], [%r6], %r4"
            ),
            ["commit"] => "cp.async.bulk.commit_group".to_owned(),
            ["group", n] => format!("cp.async.bulk.wait_group {n}"),
            ["read", n] => format!("cp.async.bulk.wait_group.read {n}"),
            ["cp", "arrive"] => "cp.async.mbarrier.arrive.shared::cta.b64 [%r2]".to_owned(),
            ["cp", "arrive", "noinc"] => "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2]".to_owned(),
            ["cp", to, from] => format!("cp.async.ca.shared.global [%r3+{to}], [%d1+{from}], 16"),
            ["put", at, value] => format!("mov.u32 %r5, {value}; st.shared.u32 [%r3+{at}], %r5"),
            ["get", at] => format!("ld.shared.u32 %r5, [%r3+{at}]; {}", see()),
            ["look", at] => format!("ld.volatile.global.u32 %r5, [%d1+{at}]; {}", see()),
            ["proxy"] => "fence.proxy.async".to_owned(),
            _ => panic!("`{step}` is no step"),
        };
        let _ = writeln!(text, "    // {step}\n    {lines};");
    }
    text + "    ret;\n}\n"
}

pub fn memory() -> Vec<u32> {
    (0..WORDS as u32).collect()
}

pub fn shown(seen: &[u32]) -> String {
    let n = seen.iter().rposition(|word| *word != UNSEEN).map_or(0, |at| at + 1);
    let words: Vec<String> = seen[..n].iter().map(u32::to_string).collect();
    words.join(" ")
}
