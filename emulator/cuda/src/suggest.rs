//! Names that are close to one that is not known.

/// Names that other languages and habits have, and what is meant here.
const MEANT: &str = "True=true False=false None=nullptr NULL=nullptr null=nullptr syncthreads=__syncthreads \
    barrier=__syncthreads sync_threads=__syncthreads tid=threadIdx.x thread_idx=threadIdx block_idx=blockIdx \
    block_dim=blockDim warp_size=warpSize fma=fmaf println=printf print=printf";

const PARTS: &str = "threadIdx.x threadIdx.y threadIdx.z blockIdx.x blockIdx.y blockIdx.z blockDim.x blockDim.y \
    blockDim.z gridDim.x gridDim.y gridDim.z";

/// Returns what is meant by `name`, which is none of the `known` names.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let plain = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let wanted = plain(name);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known.into_iter().chain(PARTS.split(' ')) {
        // Another case, or other underscores, are closest.
        let distance = if plain(candidate) == wanted && !wanted.is_empty() { 0 } else { distance(name, candidate) };
        let is_close = distance <= (name.chars().count() / 3).min(3) && candidate != name;
        if is_close && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    let meant = MEANT.split(' ').filter_map(|row| row.split_once('=')).find(|row| row.0 == name).map(|row| row.1);
    meant.or(best.map(|(_, candidate)| candidate)).map(str::to_owned)
}

/// Returns how many letters have to be added, removed, replaced, or exchanged with their neighbour.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    const MAX_LETTERS: usize = 40;
    let cut = |name: &str| name.chars().take(MAX_LETTERS).collect::<String>();
    strsim::osa_distance(&cut(a), &cut(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        let known = ["__syncthreads", "load4", "load_or_zero", "acc"];
        let meant = |name| suggest(name, known).unwrap_or_default();
        assert_eq!(meant("__syncthread"), "__syncthreads");
        assert_eq!(meant("syncthreads"), "__syncthreads");
        assert_eq!(meant("blockDimx"), "blockDim.x");
        assert_eq!(meant("threadIdx_x"), "threadIdx.x");
        assert_eq!(meant("load_of_zero"), "load_or_zero");
        assert_eq!(meant("ACC"), "acc");
        assert_eq!(meant("i"), "");
    }

    #[test]
    fn exchanged_letters_are_one_step() {
        assert_eq!(distance("gloabl", "global"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
