//! `CUresult`: the codes that calls return, and the name and description of every code of CUDA 12.4's driver API.

use std::ffi::{CStr, CString};
use std::sync::LazyLock;

/// Return value of each call. Only the values named below ever leave the library: callers read it as an enum.
pub(crate) type CUresult = u32;

/// Result of a call's body or of a part of it: a value, or the code to return.
pub(crate) type Outcome<T = ()> = Result<T, CUresult>;

pub(crate) fn refuse_if(is_wrong: bool, code: CUresult) -> Outcome {
    if is_wrong { Err(code) } else { Ok(()) }
}

/// Every code, in order: its number, its name and its description.
static CODES: LazyLock<Vec<(CUresult, CString, CString)>> = LazyLock::new(|| {
    let rows = include_str!("codes.txt").lines().filter(|row| !row.starts_with('#'));
    let code = |row: &str| {
        let mut columns = row.splitn(3, ' ');
        let (number, name, text) = (columns.next()?.parse().ok()?, columns.next()?, columns.next()?);
        Some((number, CString::new(format!("CUDA_{name}")).ok()?, CString::new(text).ok()?))
    };
    rows.map(|row| code(row).expect("a test reads the file")).collect()
});

macro_rules! codes {
    ($($name:ident = $value:literal;)*) => {
        $(pub(crate) const $name: CUresult = $value;)*

        #[cfg(test)]
        const NAMED: &[(CUresult, &str)] = &[$(($value, concat!("CUDA_", stringify!($name)))),*];
    };
}

codes! {
    SUCCESS = 0;
    ERROR_INVALID_VALUE = 1;
    ERROR_OUT_OF_MEMORY = 2;
    ERROR_NOT_INITIALIZED = 3;
    ERROR_DEINITIALIZED = 4;
    ERROR_INVALID_DEVICE = 101;
    ERROR_INVALID_IMAGE = 200;
    ERROR_INVALID_CONTEXT = 201;
    ERROR_NO_BINARY_FOR_GPU = 209;
    ERROR_UNSUPPORTED_LIMIT = 215;
    ERROR_PEER_ACCESS_UNSUPPORTED = 217;
    ERROR_INVALID_PTX = 218;
    ERROR_UNSUPPORTED_PTX_VERSION = 222;
    ERROR_UNSUPPORTED_EXEC_AFFINITY = 224;
    ERROR_INVALID_SOURCE = 300;
    ERROR_FILE_NOT_FOUND = 301;
    ERROR_OPERATING_SYSTEM = 304;
    ERROR_INVALID_HANDLE = 400;
    ERROR_ILLEGAL_STATE = 401;
    ERROR_NOT_FOUND = 500;
    ERROR_NOT_READY = 600;
    ERROR_ILLEGAL_ADDRESS = 700;
    ERROR_LAUNCH_OUT_OF_RESOURCES = 701;
    ERROR_LAUNCH_TIMEOUT = 702;
    ERROR_PEER_ACCESS_NOT_ENABLED = 705;
    ERROR_CONTEXT_IS_DESTROYED = 709;
    ERROR_ASSERT = 710;
    ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712;
    ERROR_HOST_MEMORY_NOT_REGISTERED = 713;
    ERROR_ILLEGAL_INSTRUCTION = 715;
    ERROR_MISALIGNED_ADDRESS = 716;
    ERROR_INVALID_PC = 718;
    ERROR_LAUNCH_FAILED = 719;
    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720;
    ERROR_NOT_PERMITTED = 800;
    ERROR_NOT_SUPPORTED = 801;
    ERROR_STREAM_CAPTURE_UNSUPPORTED = 900;
    ERROR_STREAM_CAPTURE_INVALIDATED = 901;
    ERROR_STREAM_CAPTURE_MERGE = 902;
    ERROR_STREAM_CAPTURE_UNMATCHED = 903;
    ERROR_STREAM_CAPTURE_UNJOINED = 904;
    ERROR_STREAM_CAPTURE_ISOLATION = 905;
    ERROR_STREAM_CAPTURE_IMPLICIT = 906;
    ERROR_CAPTURED_EVENT = 907;
    ERROR_STREAM_CAPTURE_WRONG_THREAD = 908;
    ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910;
    ERROR_INVALID_CLUSTER_SIZE = 912;
    ERROR_UNKNOWN = 999;
}

pub(crate) fn describe(code: CUresult) -> Option<(&'static CStr, &'static CStr)> {
    let at = CODES.binary_search_by_key(&code, |entry| entry.0).ok()?;
    Some((&CODES[at].1, &CODES[at].2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order() {
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_code_has_its_name() {
        for (code, name) in NAMED {
            assert_eq!(describe(*code).and_then(|(found, _)| found.to_str().ok()), Some(*name));
        }
        assert_eq!(describe(77), None);
    }
}
