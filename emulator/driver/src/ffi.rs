//! The C interface: exported calls, a barrier for panics, and access to callers' pointers.
//!
//! Every exported call is defined by [`export!`]. Pointers arrive as [`Out`], [`In`], [`Text`] and [`Host`]. A value of
//! these types is a promise: it is null, or valid for one value of its type that the call reads or writes, for as long
//! as `cuda.h` says. C callers give it with each argument of an exported call (which is `unsafe` for that reason);
//! elsewhere an `unsafe` constructor does. So one value is read and written by safe methods, and methods that depend on
//! a length as well are `unsafe`. Null is always checked.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use simt::memory::copy_on_host;

use crate::result::{
    CUresult, ERROR_INVALID_CONTEXT, ERROR_INVALID_VALUE, ERROR_NOT_SUPPORTED, ERROR_UNKNOWN, Outcome, SUCCESS,
    refuse_if,
};
use crate::{capture, diagnose, lifecycle};

/// Defines exported calls of the driver API, and lists them as `CALLS`. The number is the first version of CUDA that
/// has the call. `fn name 2000 / alias(…)` adds the variant whose null stream is the calling thread's own; `fn name
/// 2000 | other 3020(…)` defines calls with one body. A body is a block, or one expression: `fn name 2000(…) = …;`.
macro_rules! export {
    ($(fn $($name:ident $since:literal $(/ $alias:ident)*)|+ ( $($args:tt)* ) $(= $value:expr;)? $($body:block)?)*) => {
        $($crate::ffi::exported!([$($name [$($alias)*])+] ( $($args)* ) { $($value)? $($body)? });)*
        $crate::ffi::list!(CALLS: $($($name $since [$($alias)*])+)*);
    };
}
pub(crate) use export;

/// Defines the calls that share one body.
macro_rules! exported {
    ([$($name:ident [$($alias:ident)*])+] $args:tt $body:block) => {
        $($crate::ffi::call!([#[unsafe(no_mangle)]] $name [$($alias)*] $args $body);)+
    };
}
pub(crate) use exported;

/// Defines a list of calls for the table in [`crate::calls`].
macro_rules! list {
    ($list:ident: $($name:ident $since:literal [$($alias:ident)*])*) => {
        pub(crate) const $list: &[$crate::ffi::Call] = &[$(
            $crate::ffi::Call { name: stringify!($name), since: $since, address: $name as *const std::ffi::c_void },
            $($crate::ffi::Call { name: stringify!($alias), since: $since, address: $alias as *const std::ffi::c_void },)*
        )*];
    };
}
pub(crate) use list;

/// Defines exported functions beyond the driver API.
macro_rules! extension {
    ($(fn $name:ident ( $($args:tt)* ) $(= $value:expr;)? $($body:block)?)*) => {$(
        $crate::ffi::call!([#[unsafe(no_mangle)]] $name [] ( $($args)* ) { $($value)? $($body)? });
    )*};
}
pub(crate) use extension;

/// Defines calls newer than the emulated driver's version, and lists them as `LATER`. They are not exported: a program
/// that probes for symbols of a newer CUDA would mistake this for such a driver. Only `cuGetProcAddress` returns them.
macro_rules! later {
    ($(fn $name:ident $since:literal $(/ $alias:ident)* ( $($args:tt)* ) $(= $value:expr;)? $($body:block)?)*) => {
        $($crate::ffi::call!([] $name [$($alias)*] ( $($args)* ) { $($value)? $($body)? });)*
        $crate::ffi::list!(LATER: $($name $since [$($alias)*])*);
    };
}
pub(crate) use later;

/// Defines a call and its aliases, with attributes for each.
macro_rules! call {
    ([$($export:tt)*] $name:ident [$($alias:ident)*] ( $($arg:ident : $ty:ty),* $(,)? ) $body:block) => {
        /// # Safety
        /// The arguments are what the call's documentation requires.
        $($export)*
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> $crate::result::CUresult {
            $crate::ffi::guard(stringify!($name), move || $body)
        }
        $crate::ffi::aliases!([$($export)*] $name [$($alias)*] ( $($arg : $ty),* ));
    };
}
pub(crate) use call;

macro_rules! aliases {
    ([$($export:tt)*] $name:ident [] $args:tt) => {};
    ([$($export:tt)*] $name:ident [$alias:ident $($rest:ident)*] ( $($arg:ident : $ty:ty),* )) => {
        /// # Safety
        /// The arguments are what the call's documentation requires.
        $($export)*
        pub(crate) unsafe extern "C" fn $alias($($arg: $ty),*) -> $crate::result::CUresult {
            // SAFETY: both have the same requirements.
            $crate::ffi::with_own_stream(move || unsafe { $name($($arg),*) })
        }
        $crate::ffi::aliases!([$($export)*] $name [$($rest)*] ( $($arg : $ty),* ));
    };
}
pub(crate) use aliases;

/// A call in the table of all calls ([`crate::calls`]).
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// First version of CUDA that has the call.
    pub(crate) since: c_int,
    pub(crate) address: *const c_void,
}

// SAFETY: no thread writes through `address`, which is that of a function.
unsafe impl Sync for Call {}

/// Runs the body of a call, while the driver lives in this process. No panic reaches the C caller.
#[inline]
pub(crate) fn guard(name: &'static str, body: impl FnOnce() -> Outcome) -> CUresult {
    let mut body = Some(body);
    guarded(name, &mut || body.take().map_or(Err(ERROR_UNKNOWN), |body| body()))
}

/// Runs a body as [`guard`] does: compiled once for all calls.
fn guarded(name: &'static str, body: &mut dyn FnMut() -> Outcome) -> CUresult {
    if let Some(code) = lifecycle::code_after_end(name) {
        return code;
    }
    let body = || capture::permit(name).and_then(|()| body());
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => {
            diagnose::print_line(&format!("internal error in {name}; this is a bug of the emulated driver"));
            ERROR_UNKNOWN
        }
    };
    diagnose::trace(name, code);
    code
}

pub(crate) fn not_supported(name: &'static str) -> CUresult {
    guard(name, || {
        diagnose::print_once(&format!("{name} is not supported"));
        Err(ERROR_NOT_SUPPORTED)
    })
}

/// Implements calls whose form of before CUDA 3.2 takes 32-bit device addresses. No context of the real driver has any.
pub(crate) fn replaced(name: &'static str) -> CUresult {
    guard(name, || {
        diagnose::print_once(&format!(
            "{name} without _v2 takes 32-bit device addresses (CUDA 3.1 and before) and works in no context; {name}_v2 does"
        ));
        Err(ERROR_INVALID_CONTEXT)
    })
}

thread_local! {
    static OWN_STREAM: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a null stream stands for the calling thread's own default stream.
pub(crate) fn null_is_own_stream() -> bool {
    OWN_STREAM.get()
}

pub(crate) fn with_own_stream(call: impl FnOnce() -> CUresult) -> CUresult {
    let before = OWN_STREAM.replace(true);
    let code = call();
    OWN_STREAM.set(before);
    code
}

/// Returns the enum value with this number; fails if there is none.
pub(crate) fn by_number<T: Copy>(values: &[T], number: c_uint) -> Outcome<T> {
    values.get(number as usize).copied().ok_or(ERROR_INVALID_VALUE)
}

/// Pointer to a result.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

// SAFETY: an address only; the caller keeps it valid for every call that may write through it, on whatever thread.
unsafe impl<T> Send for Out<T> {}
// SAFETY: an address only; the caller keeps it valid for every call that may write through it, on whatever thread.
unsafe impl<T> Sync for Out<T> {}

impl<T> Out<T> {
    /// Returns a pointer from a C caller's array of pointers.
    ///
    /// # Safety
    /// The pointer is null, or valid for a `T` as the C caller promised.
    pub(crate) unsafe fn at(place: *mut T) -> Self {
        Self(place)
    }

    pub(crate) fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fails if the pointer is null.
    pub(crate) fn check(self) -> Outcome {
        if self.is_null() { Err(ERROR_INVALID_VALUE) } else { Ok(()) }
    }

    /// Writes a value; fails if the pointer is null.
    pub(crate) fn put(self, value: T) -> Outcome {
        self.check()?;
        // SAFETY: not null, so valid for a write by the caller's promise.
        unsafe { self.0.write_unaligned(value) }
        Ok(())
    }

    /// Writes a result. Null is refused before the result is looked up.
    pub(crate) fn put_with(self, result: impl FnOnce() -> Outcome<T>) -> Outcome {
        self.check()?;
        self.put(result()?)
    }

    /// Writes an optional result: null is not an error.
    pub(crate) fn put_if_wanted(self, value: T) {
        let _ = self.put(value);
    }

    /// Writes one element of an array; fails if the pointer is null.
    ///
    /// # Safety
    /// `index` is below the length that the C caller gave.
    pub(crate) unsafe fn put_at(self, index: usize, value: T) -> Outcome {
        self.check()?;
        // SAFETY: not null, and inside the array.
        unsafe { self.0.add(index).write_unaligned(value) }
        Ok(())
    }
}

impl Out<c_void> {
    /// Casts an untyped pointer, as attributes have.
    ///
    /// # Safety
    /// The call requires the C caller to pass a pointer of this type.
    pub(crate) unsafe fn typed<T>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

impl<T: Copy> Out<T> {
    /// Reads an in-and-out argument.
    pub(crate) fn get(self) -> Outcome<T> {
        In(self.0.cast_const()).get()
    }

    /// Reads an array of an in-and-out argument; null is allowed when it is empty.
    ///
    /// # Safety
    /// The C caller promised `n` values.
    pub(crate) unsafe fn list(self, n: usize) -> Outcome<Vec<T>> {
        // SAFETY: the pointer is valid for `n` values, as this function requires.
        unsafe { In(self.0.cast_const()).list(n) }
    }
}

impl In<u8> {
    /// Reads the bytes up to the first NUL, as text; fails if the pointer is null.
    ///
    /// # Safety
    /// The text ends with NUL, as the C caller promised.
    pub(crate) unsafe fn text(self) -> Outcome<String> {
        Text(self.0.cast()).get()
    }
}

impl Out<c_char> {
    /// Writes text into a buffer of `len` bytes, cut to fit, with its NUL.
    ///
    /// # Safety
    /// The C caller promised `len` bytes.
    pub(crate) unsafe fn put_text(self, text: &str, len: usize) -> Outcome {
        self.check()?;
        let fits = text.len().min(len.saturating_sub(1));
        refuse_if(len == 0, ERROR_INVALID_VALUE)?;
        // SAFETY: `len` bytes; `fits + 1 <= len`.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), self.0, fits);
            self.0.add(fits).write(0);
        }
        Ok(())
    }
}

/// Pointer to an argument.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Returns a pointer from a C caller's structure.
    ///
    /// # Safety
    /// The pointer is null, or valid for a `T` as the C caller promised.
    pub(crate) unsafe fn new(place: *const T) -> Self {
        Self(place)
    }

    pub(crate) fn null() -> Self {
        Self(std::ptr::null())
    }

    /// Reads an element of an array that ends by its values.
    ///
    /// # Safety
    /// The array goes that far.
    pub(crate) unsafe fn at(self, index: usize) -> Outcome<T> {
        In(self.0.wrapping_add(index)).get()
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads a value; fails if the pointer is null.
    pub(crate) fn get(self) -> Outcome<T> {
        refuse_if(self.is_null(), ERROR_INVALID_VALUE)?;
        // SAFETY: not null, so valid for a read by the caller's promise.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads an array of `n` values; null is allowed when it is empty.
    ///
    /// # Safety
    /// The C caller promised `n` values.
    pub(crate) unsafe fn list(self, n: usize) -> Outcome<Vec<T>> {
        refuse_if(n > 0 && self.is_null(), ERROR_INVALID_VALUE)?;
        // SAFETY: `n` values, not null if there are any.
        Ok((0..n).map(|i| unsafe { self.0.add(i).read_unaligned() }).collect())
    }

    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }
}

/// A C string from the caller; may be null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads the text, with invalid UTF-8 replaced; fails if the pointer is null.
    pub(crate) fn get(self) -> Outcome<String> {
        refuse_if(self.0.is_null(), ERROR_INVALID_VALUE)?;
        // SAFETY: not null, so a string that ends with NUL by the caller's promise.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// Host memory that a copy reads or writes, perhaps after the call has returned.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Host(*mut c_void);

// SAFETY: an address; the caller of a copy keeps the memory in place until the copy is done.
unsafe impl Send for Host {}
// SAFETY: an address; the caller of a copy keeps the memory in place until the copy is done.
unsafe impl Sync for Host {}

impl Host {
    /// Returns an address from a C caller's structure. It carries no promise until bytes are read or written.
    pub(crate) fn new(address: u64) -> Self {
        Self(address as usize as *mut c_void)
    }

    pub(crate) fn address(self) -> u64 {
        self.0 as u64
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn start(self) -> *mut u8 {
        self.0.cast()
    }

    /// Copies the first bytes, which others may access meanwhile.
    ///
    /// # Safety
    /// The C caller promised that they can be read.
    pub(crate) unsafe fn read(self, to: &mut [u8]) {
        // SAFETY: readable, as this function requires; ours to write.
        unsafe { copy_on_host(self.start(), to.as_mut_ptr(), to.len()) }
    }

    /// Writes the first bytes, which others may access meanwhile.
    ///
    /// # Safety
    /// The C caller promised that they can be written.
    pub(crate) unsafe fn write(self, from: &[u8]) {
        // SAFETY: ours to read; writable, as this function requires.
        unsafe { copy_on_host(from.as_ptr(), self.start(), from.len()) }
    }
}

/// Returns whether a range's first and last byte can be read: a cheap test for stray pointers, true without support.
pub(crate) fn can_read(address: u64, n: usize) -> bool {
    // No object is larger than half of the address space.
    let last = match address.checked_add(n.saturating_sub(1) as u64) {
        Some(last) if n <= isize::MAX as usize => last,
        _ => return false,
    };
    let mut bytes = [[0u8; 1]; 2];
    let [a, b] = &mut bytes;
    read_process(&[(address, 1), (last, 1)], &mut [a.as_mut_slice(), b.as_mut_slice()]) != Some(false)
}

/// Returns whether a range is mapped for reading and writing; without a test for that, what [`can_read`] returns.
pub(crate) fn can_write_all(address: u64, n: usize) -> bool {
    // Wine shows Windows programs the file of Linux.
    match cfg!(target_os = "linux").then(|| std::fs::read_to_string("/proc/self/maps")) {
        Some(Ok(maps)) => is_writable(&maps, address, n as u64),
        _ => can_read(address, n),
    }
}

/// Checks as [`can_write_all`] does, by the lines of `/proc/self/maps`, which are in the order of the addresses.
fn is_writable(maps: &str, address: u64, n: u64) -> bool {
    let Some(end) = address.checked_add(n) else { return false };
    let mut next = address;
    for line in maps.lines() {
        let mut words = line.split_ascii_whitespace();
        let bounds = words.next().and_then(|word| word.split_once('-'));
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let Some((Some(from), Some(to))) = bounds.map(|(from, to)| (number(from), number(to))) else { return false };
        if to <= next {
            continue;
        }
        if from > next || !words.next().is_some_and(|flags| flags.starts_with("rw")) {
            return false;
        }
        next = to;
        if next >= end {
            return true;
        }
    }
    false
}

/// Copies ranges of this process without faulting, `None` if the system cannot; false if a range is not mapped.
#[cfg(target_os = "linux")]
pub(crate) fn read_process(from: &[(u64, usize)], to: &mut [&mut [u8]]) -> Option<bool> {
    let mut done = true;
    for (sources, targets) in from.chunks(512).zip(to.chunks_mut(512)) {
        let wanted: usize = sources.iter().map(|s| s.1).sum();
        let remote: Vec<libc::iovec> =
            sources.iter().map(|s| libc::iovec { iov_base: s.0 as usize as *mut c_void, iov_len: s.1 }).collect();
        let local: Vec<libc::iovec> =
            targets.iter_mut().map(|t| libc::iovec { iov_base: t.as_mut_ptr().cast(), iov_len: t.len() }).collect();
        // SAFETY: the local ranges are ours to write; the kernel checks the remote ones itself.
        let n = unsafe {
            libc::process_vm_readv(
                libc::getpid(),
                local.as_ptr(),
                local.len() as libc::c_ulong,
                remote.as_ptr(),
                remote.len() as libc::c_ulong,
                0,
            )
        };
        if n < 0 && std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT) {
            return None;
        }
        done &= n >= 0 && n as usize == wanted;
    }
    Some(done)
}

/// Copies ranges of this process without faulting.
#[cfg(windows)]
pub(crate) fn read_process(from: &[(u64, usize)], to: &mut [&mut [u8]]) -> Option<bool> {
    unsafe extern "system" {
        fn GetCurrentProcess() -> *mut c_void;
        fn ReadProcessMemory(of: *mut c_void, at: *const c_void, to: *mut c_void, n: usize, done: *mut usize) -> i32;
    }
    let read = |((address, n), target): (&(u64, usize), &mut &mut [u8])| {
        assert_eq!(*n, target.len());
        // SAFETY: the target is ours to write and as long; the system checks the source, and a null pointer is allowed.
        let done = unsafe {
            let at = *address as usize as *const c_void;
            ReadProcessMemory(GetCurrentProcess(), at, target.as_mut_ptr().cast(), *n, std::ptr::null_mut())
        };
        done != 0
    };
    Some(from.iter().zip(to).all(read))
}

/// Copies ranges of this process without faulting: only Linux and Windows can.
#[cfg(not(any(target_os = "linux", windows)))]
pub(crate) fn read_process(_from: &[(u64, usize)], _to: &mut [&mut [u8]]) -> Option<bool> {
    None
}
