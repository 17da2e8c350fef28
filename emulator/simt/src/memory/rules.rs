//! What the memory system counts for one warp-wide access: the rules, plainly.
//!
//! Measured on an H200; `tests/data/h200_memory_patterns.csv` holds what the hardware reported for 130 patterns,
//! and these functions give the same numbers. Fast paths elsewhere must agree with them.

/// Byte addresses of the 32 lanes; `None` for a lane that takes no part.
pub type Addresses = [Option<u64>; 32];

/// What a shared access costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedCost {
    /// Passes over the banks.
    pub wavefronts: u32,
    /// The fewest that an access of this shape could take.
    pub ideal: u32,
}

/// Distinct 32-byte sectors touched by one warp-wide access of `bytes` per lane.
pub fn sectors(addresses: &Addresses, bytes: u32) -> u32 {
    let last_byte = u64::from(bytes.max(1)) - 1;
    let touched = |&a: &u64| a / 32..=a.saturating_add(last_byte) / 32;
    let mut seen: Vec<u64> = addresses.iter().flatten().flat_map(touched).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len() as u32
}

/// The largest number of distinct words in one of the 32 banks. The same word twice is a broadcast.
pub fn most_words_in_a_bank(addresses: &[Option<u64>], bytes: u32) -> u32 {
    let last_byte = u64::from(bytes.max(1)) - 1;
    let touched = |&a: &u64| a / 4..=a.saturating_add(last_byte) / 4;
    let mut words: Vec<u64> = addresses.iter().flatten().flat_map(touched).collect();
    words.sort_unstable();
    words.dedup();
    let mut banks = [0; 32];
    for word in words {
        banks[(word % 32) as usize] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

/// Lanes that go together: the warp for 4 bytes, half of it for 8, a quarter for 16. A load whose lanes pair up
/// (each has the address of lane `i ^ 1`, or each that of lane `i ^ 2`) takes twice as many together.
pub fn lanes_together(addresses: &Addresses, bytes: u32, load: bool) -> usize {
    let plain = match bytes {
        0..=4 => return 32,
        5..=8 => 16,
        9..=16 => 8,
        _ => 4,
    };
    let pairs_up = |distance: usize| {
        (0..32).all(|i| match (addresses[i], addresses[i ^ distance]) {
            (Some(mine), Some(other)) => mine == other,
            // A partner that takes no part does not disagree.
            _ => true,
        })
    };
    if load && (pairs_up(1) || pairs_up(2)) {
        2 * plain
    } else {
        plain
    }
}

/// Wavefronts of one warp-wide shared access of `bytes` per lane.
pub fn shared_cost(addresses: &Addresses, bytes: u32, load: bool) -> SharedCost {
    let mut cost = SharedCost::default();
    for part in addresses.chunks(lanes_together(addresses, bytes, load)) {
        cost.wavefronts += most_words_in_a_bank(part, bytes);
        cost.ideal += u32::from(part.iter().any(Option::is_some));
    }
    cost
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One row of the table of measurements.
    pub(crate) struct Row {
        pub(crate) shared: bool,
        pub(crate) load: bool,
        pub(crate) bytes: u32,
        pub(crate) name: String,
        pub(crate) measured: u32,
        pub(crate) ideal: Option<u32>,
        pub(crate) addresses: Addresses,
    }

    pub(crate) fn rows() -> Vec<Row> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/data/h200_memory_patterns.csv"
        );
        let text = std::fs::read_to_string(path).expect("the table of measurements is there");
        text.lines().skip(1).map(row).collect()
    }

    fn row(line: &str) -> Row {
        // Names may be quoted and hold commas: cut from both ends.
        let mut front = line.splitn(4, ',');
        let mut next = || front.next().expect("a column");
        let (space, op, bytes, rest) = (next(), next(), next(), next());
        let mut back = rest.rsplitn(5, ',');
        let mut next = || back.next().expect("a column");
        let (offsets, ideal, measured, _counter, name) = (next(), next(), next(), next(), next());
        let mut addresses = [None; 32];
        for (lane, offset) in offsets.split(' ').enumerate() {
            addresses[lane] = offset.parse::<u64>().ok();
        }
        Row {
            shared: space == "shared",
            load: op == "load",
            bytes: bytes.parse().expect("a number of bytes"),
            name: name.to_owned(),
            measured: measured.parse().expect("a count"),
            ideal: ideal.parse().ok(),
            addresses,
        }
    }

    #[test]
    fn the_hardware_counted_the_same() {
        let rows = rows();
        assert_eq!(rows.len(), 130);
        for r in rows {
            if r.shared {
                let cost = shared_cost(&r.addresses, r.bytes, r.load);
                assert_eq!(cost.wavefronts, r.measured, "{}", r.name);
                assert_eq!(Some(cost.ideal), r.ideal, "{}", r.name);
            } else {
                assert_eq!(sectors(&r.addresses, r.bytes), r.measured, "{}", r.name);
            }
        }
    }
}
