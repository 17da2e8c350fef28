// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 4031, rules: "sha256:001a059c4434bfef443b96a15fbe28fc38410ae84ccba288dfb3d5d2dacbbfd2" };
