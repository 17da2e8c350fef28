//! Chooses the vector widths that the forms are compiled for.
//!
//! Each width costs several CPU seconds of build time. A development build for the machine that builds has that
//! machine's width alone; where it runs on another CPU, forms run lane by lane. A release build has all widths.
//! `TILE_VECTORS` overrides the choice: `all`, `avx512`, `avx2` or `none`.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-env-changed=TILE_VECTORS");
    println!("cargo::rustc-check-cfg=cfg(vectors, values(\"base\", \"avx2\", \"avx512\"))");
    if var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        println!("cargo::rustc-cfg=vectors=\"base\"");
        return;
    }
    let requested = var("TILE_VECTORS").unwrap_or_default();
    let runs_here = var("HOST") == var("TARGET") && var("PROFILE").as_deref() != Ok("release");
    let widths: &[&str] = match requested.as_str() {
        "none" => &[],
        "avx2" => &["avx2"],
        "avx512" => &["avx512"],
        "" if runs_here => widest(),
        _ => &["avx2", "avx512"],
    };
    for width in widths {
        println!("cargo::rustc-cfg=vectors=\"{width}\"");
    }
}

/// Returns the widest vectors of the building machine. `arithmetic::cpu_level` checks more features of the same CPUs.
fn widest() -> &'static [&'static str] {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512vl") && std::is_x86_feature_detected!("avx512dq") {
            return &["avx512"];
        }
        if std::is_x86_feature_detected!("avx2") {
            return &["avx2"];
        }
    }
    &[]
}
