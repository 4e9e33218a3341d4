#!/bin/sh
# Builds what runs in browsers and in Node, from Debian's packages: build/browser/stowage.html, one
# page that plans the models that are dropped on it, and build/browser/package, an npm package.
# Usage: scripts/browser.sh
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh clang lld wasi-libc libclang-rt-14-dev-wasm32 cmake ninja-build python3
if [ ! -f build/wasi/build.ninja ]; then
  cmake -S . -B build/wasi -G Ninja -DCMAKE_TOOLCHAIN_FILE=browser/wasi.cmake \
    -DCMAKE_BUILD_TYPE=Release -DSTOWAGE_COMMAND_RUNS=OFF -DSTOWAGE_BUILD_TESTS=OFF \
    -DSTOWAGE_BUILD_EXAMPLES=OFF -DSTOWAGE_BUILD_BENCH=OFF >/dev/null
fi
cmake --build build/wasi --target stowage_command
wasm=build/wasi/tools/stowage/stowage.wasm

out=build/browser
mkdir -p $out/package
python3 -B browser/join.py $wasm $out/stowage.html
cp $wasm LICENSE browser/wasi.js browser/package/* $out/package
version=$(sed -n 's/^project(stowage VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
sed "s/@VERSION@/$version/" browser/package/package.json >$out/package/package.json
for file in $out/stowage.html $out/package/stowage.wasm; do
  echo "$file: $(wc -c <"$file") bytes, $(gzip -9 -c "$file" | wc -c) compressed"
done
