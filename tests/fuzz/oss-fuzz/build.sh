#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz wants them: build.sh [TARGET...]
#
# From the environment: CC, CXX, CFLAGS, CXXFLAGS and LIB_FUZZING_ENGINE (sanitizers, coverage and the engine), SRC (the
# tree is $SRC/leat, or where this file lies), WORK (a folder for building), and OUT, which gets for each target of
# tests/fuzz/targets.def, or for those named: fuzz_TARGET, fuzz_TARGET_seed_corpus.zip and fuzz_TARGET.options; fuzz.dict;
# files, the recorded ones that plans read; and lib, the libraries that the programs load.

leat=${SRC:-}/leat
[ -d "$leat/tests/fuzz" ] || leat=$(cd "$(dirname "$0")/../../.." && pwd)
build=${WORK:-$OUT/work}/leat
mapfile -t targets < <(sed -n 's/^X(\(.*\))$/\1/p' "$leat/tests/fuzz/targets.def")
[ $# = 0 ] || targets=("$@")

# None of these: they are no parsers of leat's, and uninstrumented threads only slow the targets down.
cmake -G Ninja -S "$leat" -B "$build" -DLEAT_SANITIZE=given -DLEAT_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
    -DLEAT_ONEDNN=OFF -DLEAT_MPI=OFF -DLEAT_NCCL=OFF -DLEAT_PYTHON=OFF -DLEAT_WITHOUT="curl gloo grpc kissfft lapack microhttpd openssl" \
    -DCMAKE_BUILD_RPATH="\$ORIGIN/lib" >/dev/null
ninja -C "$build" --quiet tests/fuzz_replay "${targets[@]/#/tests/fuzz_}"

mkdir -p "$OUT/lib"
rm -rf "$OUT/files"
cp -r "$leat/tests/golden/data/files" "$OUT/files"
for target in "${targets[@]}"; do
    cp "$build/tests/fuzz_$target" "$OUT/"
done

# The programs run where nothing is installed: what is not the C library's own comes with them.
for target in "${targets[@]}"; do
    ldd "$OUT/fuzz_$target"
done | awk '$3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv))\.so' |
    xargs -r cp -n -L -t "$OUT/lib"

# The sanitizers look at the fuzz targets; the program that unpacks seeds need not be clean of leaks at its end.
export ASAN_OPTIONS=detect_leaks=0
replay=$build/tests/fuzz_replay
"$replay" --dictionary >"$OUT/fuzz.dict"
"$replay" --list | while IFS=$'\t' read -r target most folders ending options _; do
    [[ " ${targets[*]} " = *" $target "* ]] || continue
    printf '[libfuzzer]\nmax_len = %s\ndict = fuzz.dict\ntimeout = 25\n' "$most" >"$OUT/fuzz_$target.options"
    seeds=$build/seeds/$target
    rm -rf "$seeds"
    mkdir -p "$seeds"
    "$replay" --unpack "$leat/tests/fuzz/corpus" "$target" "$seeds" >/dev/null
    "$replay" --seeds "$target" "$seeds" >/dev/null
    [ "$folders" = - ] && folders=
    for folder in ${folders//,/ }; do
        for file in "$leat/tests/golden/data/$folder"/*; do
            [ "$ending" = - ] || [ "${file%"$ending"}" != "$file" ] || continue
            # In front of a recorded file stand the bytes that choose options.
            { head -c "$options" /dev/zero; cat "$file"; } >"$seeds/recorded-$(basename "$file")"
        done
    done
    rm -f "$OUT/fuzz_${target}_seed_corpus.zip"
    (cd "$seeds" && zip -q -r "$OUT/fuzz_${target}_seed_corpus.zip" .)
done
