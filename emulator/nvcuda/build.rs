//! Linker options of `libnvcuda`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Once loaded by its path, it answers to the name that CUDA programs ask for first.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
        // `cudarc` opens and closes the driver to see whether there is one; worker threads must not lose their code.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
