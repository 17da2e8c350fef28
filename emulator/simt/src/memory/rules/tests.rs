use super::*;

/// A row of the table of measurements.
struct Row {
    shared: bool,
    direction: Direction,
    bytes: u32,
    name: String,
    measured: u32,
    ideal: Option<u32>,
    addresses: Addresses,
}

fn rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/h200_memory_patterns.csv");
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
        direction: if op == "load" { Direction::Load } else { Direction::Store },
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
            let cost = shared_cost(&r.addresses, r.bytes, r.direction);
            assert_eq!(cost.wavefronts, r.measured, "{}", r.name);
            assert_eq!(Some(cost.ideal), r.ideal, "{}", r.name);
        } else {
            assert_eq!(sectors(&r.addresses, r.bytes), r.measured, "{}", r.name);
        }
    }
}
