// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 4032, rules: "sha256:db85dc4f4b6ff5ab6c235d051cda998cde127146e2f90578e96a5ac198d29231" };
