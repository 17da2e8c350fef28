// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 4029, rules: "sha256:41673e8da47126b6d56856c87080a470166e22e307e45d1e93f2bda5111b9fb5" };
