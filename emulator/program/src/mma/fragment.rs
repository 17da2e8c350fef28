//! Use of a `wmma` fragment. PTX leaves its layout open, so a product takes it only as the part that it was loaded as.

#[cfg(test)]
mod tests;

/// Part, shape, type and layout of a fragment, as an instruction names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// `A`, `B`, or `C` for accumulators.
    pub part: char,
    /// M, N and K.
    pub shape: [u32; 3],
    /// Element type, such as `f16`.
    pub ty: &'static str,
    /// `row` or `col`; `None` for accumulators, whose layout only loads and stores have.
    pub layout: Option<&'static str>,
}

/// A fragment whose part, shape, type or layout differs from what the MMA takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    pub wanted: Fragment,
    pub given: Fragment,
    /// Load or product that made the fragment: index into [`crate::DecodedKernel::instrs`].
    pub maker: u32,
}

const TYPES: [&str; 11] = ["f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "s32"];

fn one_of(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().find(|&&known| known == name).copied()
}

/// Returns M, N and K of a name such as `m16n16k16`.
pub fn parse_shape(shape: &str) -> Option<[u32; 3]> {
    let (m, rest) = shape.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

pub fn fragment_made(mnemonic: &str) -> Option<Fragment> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    match words[..] {
        ["wmma", "load", part, "sync", "aligned", layout, shape, .., ty] => {
            let layout = one_of(&["row", "col"], layout);
            let (part, layout) = match part {
                "a" => ('A', layout),
                "b" => ('B', layout),
                _ => ('C', None),
            };
            let (shape, ty) = (parse_shape(shape)?, one_of(&TYPES, ty)?);
            Some(Fragment { part, shape, ty, layout })
        }
        ["wmma", "mma", ..] => Some(product(&words)?.1),
        _ => None,
    }
}

/// Fragments A, B and C that a product takes.
pub fn fragments_taken(mnemonic: &str) -> Option<[Fragment; 3]> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    Some(product(&words)?.0)
}

/// Fragments that a product takes and makes.
fn product(words: &[&str]) -> Option<([Fragment; 3], Fragment)> {
    let (["wmma", "mma", "sync", rest @ ..] | ["wmma", "mma", _, "popc", "sync", rest @ ..]) = words else {
        return None;
    };
    let ["aligned", a_layout, b_layout, shape, types @ ..] = rest else { return None };
    let shape = parse_shape(shape)?;
    let types: Vec<&'static str> = types.iter().filter_map(|ty| one_of(&TYPES, ty)).collect();
    // With two types, those of D and C, the factors are `f16`.
    let (d, a, b, c) = match types[..] {
        [d, c] => (d, "f16", "f16", c),
        [d, a, b, c] => (d, a, b, c),
        _ => return None,
    };
    let factor = |part, ty, layout| {
        let layout = Some(one_of(&["row", "col"], layout)?);
        Some(Fragment { part, shape, ty, layout })
    };
    let sums = |ty| Fragment { part: 'C', shape, ty, layout: None };
    let taken = [factor('A', a, a_layout)?, factor('B', b, b_layout)?, sums(c)];
    Some((taken, sums(d)))
}
