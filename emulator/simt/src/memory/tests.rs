use super::*;

fn memory() -> Memory {
    Memory::new(1 << 20)
}

#[test]
fn the_low_half_of_an_address_is_large_and_its_own() {
    let m = memory();
    let mut low: Vec<i32> = (0..100).map(|_| m.alloc(16, Origin::default()).expect("there is room") as i32).collect();
    assert!(low.iter().all(|low| *low >= 1 << 24 && low % 256 == 0), "{low:x?}");
    low.dedup();
    assert_eq!(low.len(), 100);
}

#[test]
fn ranges_end_where_they_end() {
    let m = memory();
    let a = m.alloc(100, Origin::new("a")).expect("there is room");
    assert!(m.read(a + 97, &mut [0; 4]).is_err());
    assert!(m.read(a - 1, &mut [0; 4]).is_err());
    assert!(m.fill(a, &[0], u64::MAX).is_err());
    assert!(m.copy(a, u64::MAX, 4).is_err());
    assert_eq!(m.lookup(a - 4).map(|i| i.base), Some(a));
}

#[test]
fn only_the_start_of_a_live_allocation_is_freed() {
    let m = memory();
    let a = m.alloc(100, Origin::new("a")).expect("there is room");
    assert_eq!([m.free(a + 4), m.free(0)], [Err(FreeError); 2]);
    assert_eq!([m.free(a), m.free(a)], [Ok(()), Err(FreeError)]);
    assert!(m.lookup(a).is_some_and(|i| i.freed));
    assert_eq!(m.used(), 0);
}

#[test]
fn the_limit_holds() {
    let m = memory();
    assert!(m.alloc((1 << 20) + 1, Origin::default()).is_err());
    assert!(m.alloc(u64::MAX, Origin::default()).is_err());
    assert!(m.alloc(1 << 20, Origin::default()).is_ok());
    assert!(m.alloc(1, Origin::default()).is_err());
    assert!(m.alloc(0, Origin::default()).is_ok());
}

#[test]
fn what_is_held_elsewhere_counts() {
    let m = memory();
    assert_eq!(m.take(1 << 19), Ok(()));
    assert!(m.alloc((1 << 19) + 1, Origin::default()).is_err());
    assert!(m.take((1 << 19) + 1).is_err());
    m.give_back(1 << 19);
    assert_eq!(m.used(), 0);
}

#[test]
fn numbers_rest_and_come_back() {
    let m = memory();
    for _ in 0..QUARANTINE + 10 {
        let a = m.alloc(16, Origin::default()).expect("there is room");
        m.free(a).expect("it is live");
    }
    assert!(m.table().slots.len() <= QUARANTINE + 2);
}

#[test]
fn host_memory_has_its_own_address() {
    let m = memory();
    let mut host = vec![0u8; 64];
    // SAFETY: `host` outlives the mapping.
    let a = unsafe { m.map_host(host.as_mut_ptr(), 64, Origin::new("host")) }.expect("it fits");
    m.write(a + 1, &[9]).expect("in range");
    assert!(m.read(a + 64, &mut [0]).is_err());
    // SAFETY: `host` outlives the mapping.
    assert!(unsafe { m.map_host(host.as_mut_ptr().add(8), 8, Origin::default()) }.is_err());
    assert_eq!(m.unmap_host(a), Ok(()));
    assert_eq!(host[1], 9);
}
