use super::*;

struct List(Vec<u64>);

impl ArgumentSource for List {
    fn next(&mut self, _: usize) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.remove(0) }
    }

    fn text(&mut self, address: u64) -> Vec<u8> {
        format!("text{address}").into_bytes()
    }
}

#[track_caller]
fn check(format: &str, arguments: &[u64], expected: &str) {
    assert_eq!(render(format.as_bytes(), &mut List(arguments.to_vec())).0, expected);
}

#[test]
fn integers() {
    check("%d|%5d|%-5d|%05d|%+d", &[7, 7, 7, 7, 7], "7|    7|7    |00007|+7");
    check("%d %lld %u", &[u64::MAX, u64::MAX, 0xFFFF_FFFF], "-1 -1 4294967295");
    check("%x %#X %o %.3d %hhd", &[255, 255, 8, 5, 0x1FF], "ff 0XFF 10 005 -1");
    check("%*d|%-*d|", &[4, 1, 3, 2], "   1|2  |");
}

#[test]
fn floats() {
    let f = f64::to_bits;
    check(
        "%f %.2f %8.3f|%-8.1f|%08.2f",
        &[f(1.5), f(2.0), f(3.1459), f(1.0), f(-2.5)],
        "1.500000 2.00    3.146|1.0     |-0002.50",
    );
    check("%e %.1E", &[f(12345.678), f(0.00012)], "1.234568e+04 1.2E-04");
    check("%g %g %g %g", &[f(100000.0), f(1e6), f(0.0001), f(0.00001)], "100000 1e+06 0.0001 1e-05");
    check("%f %F %5.1f", &[f(f64::NAN), f(f64::INFINITY), f(f64::NEG_INFINITY)], "nan INF  -inf");
    check("%a %a %.1a", &[f(1.5), f(0.0), f(1.97)], "0x1.8p+0 0x0p+0 0x2.0p+0");
}

#[test]
fn text_and_the_rest() {
    check("%s %.3s %c%% %p", &[3, 4, 65, 0x10], "text3 tex A% 0x10");
    check("%", &[], "");
    check("%y %", &[], "%y ");
    check("%999999999999d", &[1], &format!("{:>1$}", 1, WIDEST));
}
