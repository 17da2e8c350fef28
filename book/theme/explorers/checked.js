// made by: cargo run -p figures -- explorers; what rules.js was when it passed
window.TileChecked = { cases: 4032, rules: "sha256:99145b95e690e9860f5f659df04cc9c7c97ce3ebbcfedc6a19af6da6e28a4f6e" };
