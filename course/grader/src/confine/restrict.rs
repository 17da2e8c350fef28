//! Landlock and a seccomp filter, which a process needs no right to set for itself.
//!
//! Landlock leaves it some files and folders to read and to execute; the filter leaves it the system calls with which
//! one thread reads files, takes memory, computes and writes to what is open. There is no call left that opens a file
//! for writing or changes one, makes a process or a socket, signals another process or lifts a limit.

use std::collections::BTreeMap;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Reason for which the system does not restrict this process.
#[derive(Debug, thiserror::Error)]
pub enum RestrictError {
    #[error("Landlock, a part of Linux since 5.13: {0}")]
    Landlock(#[from] RulesetError),
    #[error("seccomp: {0}")]
    Seccomp(#[from] seccompiler::Error),
}

/// Restricts this process, and the program that it becomes, to reading and executing `reads`. Paths that do not exist
/// are left out.
pub fn restrict(reads: &[PathBuf]) -> Result<(), RestrictError> {
    // What later versions restrict beyond files needs system calls that the filter refuses.
    const VERSION: ABI = ABI::V1;
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(VERSION))?
        .create()?
        .add_rules(landlock::path_beneath_rules(reads, AccessFs::from_read(VERSION)))?
        .restrict_self()?;
    // SAFETY: plain numbers; the kernel ends this process with the grader, as bubblewrap does.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    Ok(seccompiler::apply_filter(&filter()?)?)
}

/// System calls with any arguments.
#[rustfmt::skip]
const CALLS: &[libc::c_long] = &[
    // Files that Landlock allows, and those that are open.
    libc::SYS_read, libc::SYS_pread64, libc::SYS_readv, libc::SYS_write, libc::SYS_writev, libc::SYS_close,
    libc::SYS_lseek, libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_faccessat, libc::SYS_faccessat2,
    libc::SYS_readlinkat, libc::SYS_getdents64, libc::SYS_getcwd, libc::SYS_ppoll,
    // Memory.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_madvise,
    // Signals that the process gets, and its end.
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_sigaltstack,
    libc::SYS_restart_syscall, libc::SYS_exit, libc::SYS_exit_group,
    // The start of a program, and its one thread.
    libc::SYS_execve, libc::SYS_set_tid_address, libc::SYS_set_robust_list, libc::SYS_rseq, libc::SYS_futex,
    libc::SYS_gettid, libc::SYS_getpid, libc::SYS_getrandom,
    // Facts about the machine, and time.
    libc::SYS_sysinfo, libc::SYS_uname, libc::SYS_sched_getaffinity, libc::SYS_sched_yield,
    libc::SYS_sched_get_priority_max, libc::SYS_sched_get_priority_min, libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep, libc::SYS_nanosleep,
];
/// Those of this architecture alone.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OWN_CALLS: &[libc::c_long] = &[
    libc::SYS_arch_prctl, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink, libc::SYS_poll,
];
#[cfg(target_arch = "aarch64")]
const OWN_CALLS: &[libc::c_long] = &[];

fn filter() -> Result<BpfProgram, seccompiler::Error> {
    use SeccompCmpArgLen::{Dword, Qword};
    let only = |argument: u8, length: SeccompCmpArgLen, operator: SeccompCmpOp, value: u64| {
        SeccompCondition::new(argument, length, operator, value).and_then(|condition| SeccompRule::new(vec![condition]))
    };
    let writes = (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        CALLS.iter().chain(OWN_CALLS).map(|call| (*call, vec![])).collect();
    rules.insert(libc::SYS_openat, vec![only(2, Dword, SeccompCmpOp::MaskedEq(writes), 0)?]);
    // With a null pointer, it reads limits and sets none.
    rules.insert(libc::SYS_prlimit64, vec![only(2, Qword, SeccompCmpOp::Eq, 0)?]);
    // `abort` signals its own process.
    rules.insert(libc::SYS_tgkill, vec![only(0, Dword, SeccompCmpOp::Eq, std::process::id().into())?]);
    // As in a kernel that lacks a call: libraries then do without.
    let refused = SeccompAction::Errno(libc::ENOSYS as u32);
    let architecture = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)?.try_into()?)
}
