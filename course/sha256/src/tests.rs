use super::*;

/// Digests that `sha256sum` printed; 55, 56 and 64 bytes are where the padding changes its length.
#[test]
fn digests_are_those_of_sha256sum() {
    let a = |n| vec![b'a'; n];
    for (bytes, digest) in [
        (a(0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (a(3), "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"),
        (a(55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (a(56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (a(63), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (a(64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (a(119), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (a(120), "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
        (a(1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ] {
        assert_eq!(sha256(&bytes), digest, "{} bytes", bytes.len());
        for size in [1, 7, 63, 64, 65] {
            let mut hasher = Sha256::default();
            bytes.chunks(size).for_each(|part| hasher.update(part));
            assert_eq!(hasher.finish(), digest, "{} bytes in parts of {size}", bytes.len());
        }
    }
}
