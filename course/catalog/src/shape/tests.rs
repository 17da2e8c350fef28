use super::*;

#[track_caller]
fn check(text: &str, wanted: Result<[usize; 3], &str>) {
    match (text.parse::<Shape>(), wanted) {
        (Ok(Shape { m, n, k }), Ok(wanted)) => {
            assert_eq!([m, n, k], wanted, "{text}");
            let shape = Shape { m, n, k };
            assert_eq!(shape.typed().parse(), Ok(shape), "what is shown can be typed");
        }
        (Err(error), Err(wanted)) => {
            let error = error.to_string();
            assert!(error.starts_with(wanted), "{text}: {error}");
            let example = if wanted.contains("would have") { "46340" } else { "1025x1023x1021" };
            assert!(error.contains(example), "{text}: no right size in: {error}");
        }
        (got, wanted) => panic!("{text}: {got:?}, expected {wanted:?}"),
    }
}

#[test]
fn a_size_is_one_two_or_three_numbers() {
    for (text, wanted) in [
        ("4096", [4096, 4096, 4096]),
        ("1", [1, 1, 1]),
        ("0064", [64, 64, 64]),
        ("1025x1023x1021", [1025, 1023, 1021]),
        ("1025X1023X1021", [1025, 1023, 1021]),
        ("1025×1023×1021", [1025, 1023, 1021]),
        (" 1025 x 1023 x 1021 ", [1025, 1023, 1021]),
        ("30000x333", [30000, 333, 0]),
        ("512x512", [512, 512, 0]),
        ("512x512x512", [512, 512, 512]),
        ("46340", [46340, 46340, 46340]),
        ("2147483647x1", [2147483647, 1, 0]),
    ] {
        check(text, Ok(wanted));
    }
}

#[test]
fn what_is_no_size_is_refused_by_the_part_that_is_wrong() {
    for (text, wanted) in [
        ("", "a size is missing; "),
        ("  ", "a size is missing; "),
        ("x", "`x` lacks a number before or after an x; "),
        ("64x", "`64x` lacks a number before or after an x; "),
        ("64xx64", "`64xx64` lacks a number before or after an x; "),
        ("64xmanyx64", "`many` is not a whole number from 1 to 2147483647; "),
        ("64x64x0", "`0` is not a whole number from 1 to 2147483647; "),
        ("30000x0", "`0` is not a whole number from 1 to 2147483647; "),
        ("1x2x3x4", "`1x2x3x4` has 4 numbers; "),
        ("46341", "`46341` is too large: A would have 46341 x 46341 elements"),
        ("1x50000x50000", "`1x50000x50000` is too large: B would have 50000 x 50000 elements"),
        ("50000x50000x1", "`50000x50000x1` is too large: C would have 50000 x 50000 elements"),
        ("50000x50000", "`50000x50000` is too large: the matrix would have 50000 x 50000 elements"),
    ] {
        check(text, Err(wanted));
    }
    let numbers = ["many", "-5", "+5", "1e3", "1_000", "1024.0", "512,1024", "5 12", "٣", "0"];
    for text in numbers.into_iter().chain(["2147483648", "99999999999999999999999"]) {
        check(text, Err(&format!("`{text}` is not a whole number from 1 to 2147483647; ")));
    }
}

#[test]
fn a_size_without_k_is_one_of_transposes_alone() {
    let flat = Shape { m: 30, n: 3, k: 0 };
    for (step, size, suits) in [
        ("v08", flat, true),
        ("v05", flat, false),
        ("v00", flat, false),
        ("v08", Shape::square(8), true),
        ("v05", Shape::square(8), true),
    ] {
        let works = crate::find(step).expect("a step").kernels.iter().map(|kernel| kernel.work);
        let checked = size.check_suits(step, works);
        assert_eq!(checked.is_ok(), suits, "{step}: {checked:?}");
    }
    assert_eq!(Work::Transpose.shape(Shape::square(8)), Some(Shape { m: 8, n: 8, k: 0 }));
}
