//! Linker options of `libnvcuda`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The name of NVIDIA's driver: programs that are linked with `-lcuda` need it, and most others open it.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // `cudarc` opens and closes the driver to probe for one; worker threads must not lose their code.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
