#!/bin/sh
# Builds for 64-bit ARM and runs under qemu the tests of what has loops of its own for that processor, and of what is built on them.
#
#   tools/arm64.sh BUILD
#
# Needs Debian's gcc-aarch64-linux-gnu and qemu-user-static, and apt-get for the libraries, which are unpacked into BUILD/root and
# not installed. Slow: an hour of one core.
set -eu

build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static apt-get dpkg; do
    command -v $tool >/dev/null || { echo "arm64: $tool is missing; install gcc-aarch64-linux-gnu and qemu-user-static" >&2; exit 77; }
done
mkdir -p "$build/root" "$build/packages" "$build/apt/lists/partial" "$build/apt/cache/archives/partial"
build=$(cd "$build" && pwd)

if [ ! -e "$build/root/complete" ]; then
    apt="apt-get -q -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o Dir::State::lists=$build/apt/lists -o Dir::Cache=$build/apt/cache"
    $apt update
    names=
    for name in libjpeg62-turbo-dev libjpeg62-turbo libspng-dev libspng0 libisal-dev libisal2 zlib1g-dev zlib1g libjansson-dev \
        libjansson4 libxxhash-dev libxxhash0 libsqlite3-dev libsqlite3-0 libzstd-dev libzstd1 liblz4-dev liblz4-1 libsnappy-dev \
        libsnappy1v5 libcmocka-dev libcmocka0 libicu-dev libicu72 libpcre2-dev libpcre2-8-0 libwebp-dev libwebp7 libwebpdemux2 \
        libwebpmux3 libssl-dev libssl3 libc6 libgcc-s1 libstdc++6; do
        names="$names $name:arm64"
    done
    # shellcheck disable=SC2086
    (cd "$build/packages" && $apt download $names librandom123-dev)
    for package in "$build"/packages/*.deb; do
        dpkg -x "$package" "$build/root"
    done
    touch "$build/root/complete"
fi

PKG_CONFIG_LIBDIR=$build/root/usr/lib/aarch64-linux-gnu/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$build/root
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
cmake -G Ninja -S "$source" -B "$build/cmake" -DCMAKE_TOOLCHAIN_FILE="$source/cmake/arm64.cmake" -DLEAT_ARM64_ROOT="$build/root" \
    -DLEAT_WERROR=ON -DLEAT_ONEDNN=OFF -DLEAT_MPI=OFF -DLEAT_NCCL=OFF -DLEAT_WITHOUT="curl gloo grpc microhttpd"
ninja -C "$build/cmake" units/image units/graph units/exec tests/conform_test tests/golden
ctest --test-dir "$build/cmake" --output-on-failure \
    -R '^image/|^graph/.*/(wide|resize|stream)_test|^exec/chain_test|^conform/ops'

# What libjpeg makes of damaged pictures is the processor's, and recorded on another one.
libraries=$build/root/usr/lib/aarch64-linux-gnu:$build/root/lib/aarch64-linux-gnu
cd "$source"
qemu-aarch64-static -L "$build/root" -E "LD_LIBRARY_PATH=$libraries" "$build/cmake/tests/golden" --only image tests/golden/data \
    > "$build/golden-image" || true
tail -n 1 "$build/golden-image"
if ! grep -q ' passed, ' "$build/golden-image" || grep '^FAIL' "$build/golden-image" | grep -v '_truncated_\|_corrupt_scan'; then
    exit 1
fi
