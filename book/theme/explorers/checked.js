// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 4022, rules: "sha256:f3cc9e6b155527faf273d737309547f8825d197e07e553ec6ed54f48c5b422f7" };
