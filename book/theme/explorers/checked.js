// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 4031, rules: "sha256:dab2c231ae441884a08bfc83c76e40b0858398cd96f4a7c06f986ba6836979aa" };
