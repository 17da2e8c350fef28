use super::*;
use crate::kernel::KernelSource;

fn kernel(code: KernelSource) -> Kernel {
    Kernel::sgemm("any", code, |_| unreachable!("nothing is launched"), |_| Ok(()))
}

#[test]
fn machine_code_of_other_ptx_is_not_used() {
    const CUBIN: &[u8] = b"code";
    let ptx = format!("// cubin: kernels/cubin/any.cubin sha256:{}\n", sha256(CUBIN));
    let code = |ptx: &str, cubin| KernelSource { text: "", ptx: ptx.to_owned().leak(), cubin, rust: None };
    assert_eq!(committed(&kernel(code(&ptx, CUBIN))), Some(CUBIN));
    assert_eq!(committed(&kernel(code(&ptx, b"other"))), None);
    assert_eq!(committed(&kernel(code(".version 8.4\n", b""))), None);
}

#[test]
fn a_kernel_is_found_by_its_whole_name() {
    let cubin = b"\0.text.ab\0.text.abc\0";
    assert!(has(cubin, "ab") && has(cubin, "abc") && !has(cubin, "a") && !has(cubin, "bc"));
}
