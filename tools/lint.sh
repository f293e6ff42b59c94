#!/bin/sh
# Static analysis: clang-tidy with the checks of .clang-tidy, then cppcheck where it is installed.
#
#   lint.sh BUILD        a build folder; configured with clang when it is not there yet
set -eu
cd "$(dirname "$0")/.."
build=$1
[ -f "$build/build.ninja" ] || CC=clang CXX=clang++ cmake -G Ninja -B "$build" -DLEAT_WERROR=ON
sources=$(python3 -B -c '
import sys
sys.path.insert(0, "tools")
import sources
print("\n".join(n for n in sources.c_files(".", "src", "examples", "tests") if n.endswith(".c")))')
jobs=$(nproc)
status=0
echo "$sources" | xargs -P "$jobs" -n 4 clang-tidy --quiet -p "$build" || status=1
if command -v cppcheck >/dev/null; then
    echo "$sources" | grep -v _test.c | xargs cppcheck -q -j "$jobs" --std=c11 --error-exitcode=1 \
        --inline-suppr --enable=warning,portability --suppress=missingIncludeSystem \
        --suppress=returnDanglingLifetime --suppress=invalidLifetime \
        --suppress=invalidPointerCast -Isrc -Iinclude || status=1
else
    echo "lint: cppcheck is not installed; skipped"
fi
exit $status
