// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 3950, rules: "sha256:34a7d2d137501ebb284806edd659af29b748d919c25ec3f8021c21a4be3a7271" };
