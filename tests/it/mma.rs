//! Tensor cores: elements of their products beside those of an H200, bit by bit.

use arithmetic::products::{AccumulatorType, FactorType, Factors, Product, Round, Unit, multiply_f64};
use simt::launch::{CheckLevel, LaunchOptions};
use tests::gpu::{Argument, Geometry, Gpu, texts};
use tests::{tensor_cores::fixtures, wgmma::hash};

const ELEMENTS: &[u8] = include_bytes!("../data/mma/h200.z");

/// The elements of one instruction: number by number, big-endian, as `tests/data/mma/README.md` describes.
struct Elements {
    name: String,
    a: Vec<Vec<u64>>,
    b: Vec<Vec<u64>>,
    c: Vec<u64>,
    d: Vec<u64>,
}

fn elements() -> Vec<Elements> {
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib(ELEMENTS).expect("compressed");
    let mut rest = &bytes[..];
    let mut all = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|&b| b == b'\n').expect("a line of text");
        let line = std::str::from_utf8(&rest[..end]).expect("text");
        let [name, numbers @ ..] = &line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("no name in `{line}`");
        };
        let numbers: Vec<usize> = numbers.iter().map(|text| text.parse().expect("a number")).collect();
        let [count, operand, sum] = numbers[..] else { panic!("three numbers in `{line}`") };
        rest = &rest[end + 1 + count..];
        let mut take = |size: usize, width: usize| {
            let (these, others) = rest.split_at(size * count);
            rest = others;
            let value = |digits: &[u8]| digits.iter().fold(0, |n, &digit| n << 8 | u64::from(digit));
            these.chunks(size).map(|element| element.chunks(width).map(value).collect::<Vec<u64>>()).collect::<Vec<_>>()
        };
        let width = match name.rsplit('.').next() {
            Some("bf16" | "f16") => 2,
            Some("tf32") => 4,
            Some("e4m3" | "e5m2") => 1,
            Some("f64") => 8,
            _ => panic!("unknown type of numbers in `{line}`"),
        };
        all.push(Elements {
            name: (*name).to_owned(),
            a: take(operand, width),
            b: take(operand, width),
            c: take(sum, sum).concat(),
            d: take(sum, sum).concat(),
        });
    }
    all
}

fn of_name<T: Copy>(name: &str, known: &[(&str, T)]) -> T {
    let found = known.iter().find(|(one, _)| *one == name);
    found.unwrap_or_else(|| panic!("unknown word `{name}`")).1
}

fn product(name: &str) -> Product {
    use {AccumulatorType as Sum, FactorType as Factor};
    let parts: Vec<&str> = name.split('.').collect();
    let [unit, .., sum, kind] = parts[..] else { panic!("no types in `{name}`") };
    #[rustfmt::skip]
    let kinds = [
        ("bf16", Factor::Bf16), ("f16", Factor::F16), ("tf32", Factor::Tf32), ("e4m3", Factor::E4m3),
        ("e5m2", Factor::E5m2),
    ];
    let kind = of_name(kind, &kinds);
    let sum = of_name(sum, &[("f16", Sum::F16), ("f32", Sum::F32)]);
    let unit = of_name(unit, &[("wgmma", Unit::Warpgroup), ("mma", Unit::Warp)]);
    Product::new(kind, sum, unit)
}

/// Computes D of up to eight elements at once, on the diagonal of a tile.
fn diagonal(name: &str, a: &[Vec<u64>], b: &[Vec<u64>], c: &[u64]) -> Vec<u64> {
    let (rows, k) = (a.len(), a[0].len());
    if name.ends_with("f64") {
        let floats = |of: &[Vec<u64>]| of.concat().into_iter().map(f64::from_bits).collect::<Vec<_>>();
        let mut d = vec![0.0; rows * rows];
        (0..rows).for_each(|i| d[i * rows + i] = f64::from_bits(c[i]));
        multiply_f64(&floats(a), &floats(b), k, &mut d, Round::Nearest);
        return (0..rows).map(|i| d[i * rows + i].to_bits()).collect();
    }
    let product = product(name);
    let mut row_bits = vec![[0; 8]; rows * k.div_ceil(8)];
    let mut column_bits = vec![[0; 8]; k];
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        for k in 0..k {
            row_bits[i * a.len().div_ceil(8) + k / 8][k % 8] = a[k] as u32;
            column_bits[k][i] = b[k] as u32;
        }
    }
    let mut a = vec![Factors::ZERO; row_bits.len()];
    let mut b = vec![Factors::ZERO; k];
    product.decode(&row_bits, &mut a);
    product.decode(&column_bits, &mut b);
    let mut d = vec![0; rows * 8];
    (0..rows).for_each(|i| d[i * 8 + i] = c[i] as u32);
    product.multiply(&a, &b, k, &mut d);
    (0..rows).map(|i| u64::from(d[i * 8 + i])).collect()
}

/// Returns the elements that are not as on an H200, the first as text.
fn differences(of: &Elements) -> Option<String> {
    let at_once = of.a.chunks(8).zip(of.b.chunks(8)).zip(of.c.chunks(8));
    let ours: Vec<u64> = at_once.flat_map(|((a, b), c)| diagonal(&of.name, a, b, c)).collect();
    // Which NaN of an f64 goes on is not known.
    let both_nan = |x: u64, y: u64| f64::from_bits(x).is_nan() && f64::from_bits(y).is_nan();
    let same = |x: u64, y: u64| x == y || of.name.ends_with("f64") && both_nan(x, y);
    let differ: Vec<usize> = (0..ours.len()).filter(|&i| !same(ours[i], of.d[i])).collect();
    let first = *differ.first()?;
    let (name, n, all, found, want) = (&of.name, differ.len(), ours.len(), ours[first], of.d[first]);
    Some(format!("{name}: {n} of {all} differ; element {first}: {found:x} instead of {want:x}\n"))
}

#[test]
fn elements_are_those_of_an_h200_bit_by_bit() {
    let elements = elements();
    assert_eq!(elements.iter().map(|e| e.d.len()).sum::<usize>(), 16_962);
    let differences: String = elements.iter().filter_map(differences).collect();
    assert_eq!(differences, "");
}

fn changed(name: &str, edits: &[(&str, &str)]) -> String {
    let all = fixtures();
    let fixture = all.iter().find(|f| f.name == name).expect("a fixture of this name");
    let mut text = fixture.ptx();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let gpu = Gpu::default();
    let module = gpu.load(&text).expect("it loads");
    let n = 32 * fixture.outs * fixture.blocks();
    let arguments = [gpu.upload(&fixture.inputs), gpu.upload(&vec![0_u32; n])].map(Argument::from);
    let options = LaunchOptions { check_level: CheckLevel::Checked, ..LaunchOptions::default() };
    let report = gpu.launch(&module, "k", Geometry::line(1, 32), &arguments, options);
    texts(&report.expect("it runs").findings)
}

#[test]
fn a_product_takes_all_lanes() {
    let name = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    let partly = ("\nmma.sync", "\nsetp.lt.u32 %p, %lane, 20;\n@%p mma.sync");
    let found = changed(name, &[partly, (".reg .f64", ".reg .pred %p;\n.reg .f64")]);
    insta::assert_snapshot!(found);
}

#[test]
fn undefined_elements_are_followed() {
    // The last rows are left out, and lie in some matrices only.
    let name = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
    let fill = ("st.shared.v4", "setp.lt.u32 %p, %lane, 28;\n@%p st.shared.v4");
    let predicate = (".reg .f64", ".reg .pred %p;\n.reg .f64");
    let use_it = ("%o2, %o3}, [%x];\n", "%o2, %o3}, [%x];\nadd.u32 %o0, %o0, 1;\n");
    insta::assert_snapshot!(changed(name, &[fill, predicate, use_it]));

    // One row of A is undefined: the sums of that row are, and storing only the others is not a mistake.
    let name = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    let load = (
        "\nmma.sync",
        "\nmad.lo.u32 %x, %lane, 4, %tile;\nsetp.ge.u32 %p, %lane, 4;\n@%p st.shared.b32 [%x], %r0;\n\
         ld.shared.b32 %r0, [%x];\nmma.sync",
    );
    let others = ("st.global.u32 [%out+0], %o0", "@%p st.global.u32 [%out+0], %o0");
    let others_too = ("st.global.u32 [%out+128], %o1", "@%p st.global.u32 [%out+128], %o1");
    assert_eq!(changed(name, &[load, predicate, others, others_too]), "");
    insta::assert_snapshot!(changed(name, &[load, predicate]));
}

#[test]
fn undefined_integers_and_elements_that_a_sparse_tile_leaves_out() {
    let predicate = (".reg .f64", ".reg .pred %p;\n.reg .f64");
    // Leaves a register undefined in the lanes for which the comparison does not hold.
    let undefined = |register: &str, keeps: &str| {
        format!(
            "mad.lo.u32 %x, %lane, 4, %tile;\nand.b32 %y, %lane, 1;\n{keeps};\n@%p st.shared.b32 [%x], {register};\n\
             ld.shared.b32 {register}, [%x];\nmma"
        )
    };
    let name = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
    let load = format!("\n{}", undefined("%r0", "setp.ge.u32 %p, %lane, 4"));
    let [others, others_too] = [("0", "o0"), ("128", "o1")].map(|(at, register)| {
        let store = format!("st.global.u32 [%out+{at}], %{register}");
        (store.clone(), format!("@%p {store}"))
    });
    let others = [(&*others.0, &*others.1), (&*others_too.0, &*others_too.1)];
    assert_eq!(changed(name, &[("\nmma", &load), predicate, others[0], others[1]]), "");
    insta::assert_snapshot!(changed(name, &[("\nmma", &load), predicate]));

    // Odd lanes hold the last two of four elements of B, and the metadata has the first two.
    let name = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 0";
    let load = format!("\n{}", undefined("%r2", "setp.eq.u32 %p, %y, 0"));
    let chosen = |places: &str| changed(name, &[("\nmma", &format!("\nmov.b32 %r8, {places};{load}")), predicate]);
    assert_eq!(chosen("0x44444444"), "");
    insta::assert_snapshot!(chosen("0xe4e4e4e4"));

    // The metadata of every fourth lane is read.
    let metadata = |keeps: &str| changed(name, &[("\nmma", &format!("\n{}", undefined("%r8", keeps))), predicate]);
    assert_eq!(metadata("and.b32 %y, %lane, 3;\nsetp.eq.u32 %p, %y, 0"), "");
    insta::assert_snapshot!(metadata("setp.ne.u32 %p, %lane, 12"));
}

/// Products in which another NaN goes on than on an H200, in a few words; all others are the same.
///
/// For `f64`, the NaN that goes on depends on the host's processor too.
const OTHER_NANS: [&str; 2] =
    ["mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64"];

#[test]
fn whole_instructions_give_what_an_h200_gives() {
    let text = include_str!("../data/mma/whole.txt");
    let hardware: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let all = fixtures();
    assert_eq!(all.len(), hardware.len());
    for (number, (fixture, theirs)) in all.iter().zip(hardware).enumerate() {
        let ours = format!("{number:02} {:016x} {}", hash(&fixture.emulate()), fixture.name);
        let on_another_host = cfg!(not(target_arch = "x86_64")) && fixture.name.contains(".f64.");
        if !on_another_host && !OTHER_NANS.contains(&fixture.name.as_str()) {
            assert_eq!(ours, theirs);
        }
    }
}

#[test]
fn a_fragment_of_other_integers_is_reported() {
    let name = "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32";
    let other =
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.s8", "wmma.load.a.sync.aligned.row.m16n16k16.shared.u8");
    insta::assert_snapshot!(changed(name, &[other]));
    let name = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16";
    assert_eq!(changed(name, &[]), "");
    let c = "wmma.load.c.sync.aligned.row.m16n16k16.shared.f16";
    let other = (c, "wmma.load.c.sync.aligned.row.m32n8k16.shared.f16");
    insta::assert_snapshot!(changed(name, &[other]));
}

#[test]
fn sparsity_selectors_fit_their_shape() {
    let check = |name: &str, written: &str, other: &str, expected: &str| {
        let all = fixtures();
        let fixture = all.iter().find(|f| f.name == name).expect("a fixture of this name");
        let error = Gpu::default().load(&fixture.ptx().replace(written, other)).map(|_| ()).expect_err("it is refused");
        assert_eq!(error.to_string().split_once(": ").expect("a place").1, expected);
    };
    let name = "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 1";
    check(name, ", 1;", ", 2;", "the sparsity selector is too large for this shape");
    check(name, ", 1;", ", %r1;", "the sparsity selector is a number from 0 to 3");
}
