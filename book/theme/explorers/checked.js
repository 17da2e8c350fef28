// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 3950, rules: "sha256:c922d05e06acd3ea368f3cd92dcb7d4ab629fe96a279f77b145f79f76a27825a" };
