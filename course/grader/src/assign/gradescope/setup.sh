#!/bin/sh
# Gradescope runs this once, when it makes the image: it builds the grader and fetches NVIDIA's compiler of kernels.
set -e
apt-get update
apt-get install -y --no-install-recommends binutils ca-certificates curl gcc libc6-dev
command -v cargo || curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
PATH=$HOME/.cargo/bin:$PATH
cd /autograder/source
cargo build --locked -p teach -p judge
cargo xtask setup
# Outside of the workspace the programs are as they are: nothing is built again.
mkdir -p /opt/tile/bin
strip -o /opt/tile/bin/teach target/debug/teach
strip -o /opt/tile/bin/judge target/debug/judge
mv target/nvrtc /opt/tile/nvrtc
rm -rf target "$HOME/.cargo/registry"
