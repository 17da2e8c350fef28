//! Assertions for the steps' tests: a step's declarations agree with the catalogue, the PTX and the source.

use catalog::Shape;

use crate::kernel::Kernel;

/// Asserts that the kernels are those of the catalogue, in order, and their blocks have the threads of their PTX.
#[track_caller]
pub fn agrees(step: &str, kernels: &[Kernel]) {
    let step = catalog::find(step).expect("a step of the catalogue");
    let named = |name: &&str| !name.is_empty();
    let declared: Vec<&str> = kernels.iter().map(|kernel| kernel.name).filter(named).collect();
    assert_eq!(declared, step.kernels.iter().map(|kernel| kernel.name).filter(named).collect::<Vec<_>>());
    for (kernel, listed) in kernels.iter().zip(step.kernels) {
        assert!(kernel.computes(listed.work), "{} is declared as something else", kernel.name);
        let Some((code, config)) = kernel.code().zip(kernel.config(Shape::square(1))) else { continue };
        let source = listed.source.unwrap_or_default();
        let (x, y, z) = config.block_dim;
        let siblings = kernel.in_rust().and_then(|kernel| kernel.code());
        for (code, path) in
            [(code, format!("{source}.cu"))].into_iter().chain(siblings.map(|code| (code, format!("rust/{source}.rs"))))
        {
            let header = format!("// source: kernels/{path} ");
            assert!(code.ptx.contains(&header), "{}: the PTX is of another source", kernel.name);
            assert_eq!(threads(code.ptx, kernel.name), Some([x, y, z]), "{path}: launch bounds and the block differ");
        }
    }
}

/// Returns `.maxntid` of an entry, which `__launch_bounds__` sets.
fn threads(ptx: &str, entry: &str) -> Option<[u32; 3]> {
    let body = ptx.split_once(&format!(".entry {entry}("))?.1;
    let body = &body[..body.find('{')?];
    let line = body.lines().find_map(|line| line.trim().strip_prefix(".maxntid"))?;
    let numbers: Vec<u32> = line.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    numbers.try_into().ok()
}

/// The tests of every step: its kernels are those of the catalogue, and its sums of C those on record.
#[macro_export]
macro_rules! test_step {
    ($step:literal, $kernels:expr) => {
        #[cfg(test)]
        mod declared {
            use super::*;

            #[test]
            fn kernels_are_those_of_the_catalogue() {
                $crate::declared::agrees($step, $kernels);
            }

            #[test]
            fn sums_of_c_are_those_on_record() {
                $crate::sums::agree($step, $kernels);
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launch_bounds_are_those_of_the_entry() {
        let ptx =
            ".entry one(\n)\n.maxntid 32, 1, 1\n{\n}\n.entry two(\n)\n.maxntid 16, 16, 1\n.minnctapersm 2\n{\n}\n";
        assert_eq!(threads(ptx, "two"), Some([16, 16, 1]));
        assert_eq!(threads(ptx, "three"), None);
    }
}
