use super::*;
use crate::task::Catalogue;

const EXAMPLE: &str = include_str!("../task/example.toml");
const VECTORS: &str = include_str!("vectors.toml");

#[test]
fn a_starter_keeps_the_code_and_says_what_to_do() {
    let catalogue = Catalogue::parse(EXAMPLE, "v05", "tasks.toml").expect("a catalogue");
    let solution = "// v05_x.cu: the idea.\n//\n// Changed: everything.\n// Any M, N, K. Launch: so.\n#include \"common.cuh\"\n\
                        // ANCHOR: kernel\nvoid f()\n{\n    // SOLUTION(v05): do it\n    done();\n    // STARTER| \
                        undone();\n    // SOLUTION_END\n}\n// ANCHOR_END: kernel\n";
    assert_eq!(
        starter(&catalogue.tasks[0], solution),
        "// v05, a rebuild task of 45 minutes: 32 banks, and no two lanes in one.\n//\n\
             // What is missing is marked TODO. Check it with: cargo xtask check v05\n//\n// Any M, N, K. Launch: so.\n\
             #include \"common.cuh\"\nvoid f()\n{\n    // TODO(v05): do it\n    undone();\n}\n"
    );
    assert_eq!(
        markers::finished(solution),
        "// v05_x.cu: the idea.\n//\n// Changed: everything.\n// Any M, N, K. Launch: so.\n#include \"common.cuh\"\n\
             void f()\n{\n    done();\n}\n"
    );
}

#[test]
fn a_skeleton_is_a_signature_and_a_launch() {
    let catalogue = Catalogue::parse(VECTORS, "v05", "tasks.toml").expect("a catalogue");
    assert_eq!(
        starter(&catalogue.tasks[0], ""),
        "// v05.vectors, a transfer task of 30 minutes: 12 bytes.\n//\n// Transpose a matrix of small structs.\n//\n\
             //     struct Vector { float x, y, z; };\n//\n// Check it with: cargo xtask check v05.vectors\n//\n\
             // Launch: blocks of 32 x 8 threads, one block per 32 x 32 of in: blockIdx.x counts tiles along\n\
             // cols, blockIdx.y along rows.\n#include \"common.cuh\"\n\nstruct Vector {\n    float x, y, z;\n};\n\n\
             extern \"C\" __global__ void __launch_bounds__(256)\n\
             transpose_vectors(int rows, int cols, const Vector* in, Vector* out)\n{\n    // TODO(v05): everything\n}\n"
    );
}
