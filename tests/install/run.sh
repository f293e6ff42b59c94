#!/bin/sh
# Shows that an installed leat is found and works: by CMake (shared and static), by pkg-config (shared
# and static), moved elsewhere and without LD_LIBRARY_PATH; that the tool runs,
# trains, and has its manual page and completion; that nothing but leat_ symbols is exported.
#
#   run.sh BUILD VERSION
set -eu
build=$1
version=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "install: $*" >&2
    exit 1
}

# expect NAME COMMAND...: the command prints the version and nothing else.
expect() {
    name=$1
    shift
    found=$("$@") || fail "$name: exit status $?"
    [ "$found" = "$version" ] || fail "$name: expected $version, found $found"
}

cmake --install "$build" --prefix "$work/first" >"$work/log" || fail "$(cat "$work/log")"
mv "$work/first" "$work/moved"
prefix=$work/moved
libraries=$(dirname "$(find "$prefix" -name libleat.so)")
PKG_CONFIG_PATH=$libraries/pkgconfig
export PKG_CONFIG_PATH
unset LD_LIBRARY_PATH

cmake -G Ninja -S "$here" -B "$work/outside" -DCMAKE_PREFIX_PATH="$prefix" -DLEAT_WANTED="$version" \
    >"$work/log" 2>&1 || fail "$(cat "$work/log")"
ninja -C "$work/outside" >"$work/log" || fail "$(cat "$work/log")"
expect "find_package" "$work/outside/outside"
expect "find_package, static" "$work/outside/outside_static"

cc=${CC:-cc}
# The flags are lists of words. shellcheck disable=SC2046
$cc -std=c11 "$here/program.c" -o "$work/shared" $(pkg-config --cflags --libs leat) "-Wl,-rpath,$(pkg-config --variable=libdir leat)"
expect "pkg-config" "$work/shared"
# shellcheck disable=SC2046
$cc -std=c11 "$here/program.c" -o "$work/static" $(pkg-config --cflags leat) \
    "$libraries/libleat.a" $(pkg-config --static --libs leat)
expect "pkg-config, static" "$work/static"

found=$("$prefix/bin/leat" --version)
case $found in
*"$version"*) ;;
*) fail "leat --version: expected $version, found $found" ;;
esac

[ -n "$(find "$prefix" -path '*/man/man1/leat.1' -size +1k)" ] || fail "there is no manual page"
[ -f "$libraries/$(basename "$(readlink -f "$libraries/libleat.so")")-gdb.py" ] || fail "there are no printers for gdb"
for module in dnnl grpc http lapack tls; do
    [ ! -f "$build/libleat_$module.so" ] || [ -f "$libraries/leat/libleat_$module.so" ] || fail "there is no libleat_$module.so"
done
if [ -f "$build/libleat_http.so" ]; then
    echo '{"op": "range", "args": {"stop": 3}}' >"$work/plan.json"
    "$prefix/bin/leat" watch "$work/plan.json" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
    grep -q 'http://' "$work/log" || fail "the tool finds no libleat_http.so: $(cat "$work/log")"
fi
LEAT_LOG=warning "$prefix/bin/leat" demo >"$work/log" 2>&1 || fail "$(cat "$work/log")"
grep -q 'test accuracy' "$work/log" || fail "leat demo: $(cat "$work/log")"
! grep 'libleat_dnnl' "$work/log" || fail "the tool does not find oneDNN"
[ -n "$(find "$prefix" -path '*/bash-completion/completions/leat' -size +1k)" ] || fail "there is no completion"

found=$(objdump -p "$libraries/libleat.so" | awk '$1 == "SONAME" {print $2}')
case $version in
0.*) wanted=libleat.so.${version%.*} ;; # before 1.0 the ABI may change with the minor version
*) wanted=libleat.so.${version%%.*} ;;
esac
[ "$found" = "$wanted" ] || fail "the library's name: expected $wanted, found $found"

foreign=$(nm -D --defined-only "$libraries/libleat.so" | awk '{print $3}' | grep -v '^leat_' || true)
[ -z "$foreign" ] || fail "symbols that do not start with leat_ are exported: $foreign"
