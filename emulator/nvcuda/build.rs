//! Linker options of `libnvcuda`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The name of NVIDIA's driver: what a program that is linked with `-lcuda` needs, and what most others open.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // `cudarc` opens and closes the driver to see whether there is one; worker threads must not lose their code.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
