#!/bin/sh
# gpu.sh: everything that needs a real device of a PJRT plug-in, as one command, without a network, in some ten minutes:
#
#     sh tools/gpu.sh            # GPU; or TPU, or XLA_CPU, which tries the script itself
#
# What it does, and how it went, is a table at the end: the devices, each operation's cases forward and backward, Keras'
# recorded answers, training of the Python tests, and a network on data/digits. Where there is no such device it says
# "skipped" and why, and ends with 0; with 1 where something failed. BUILD: the folder of the build (build), LIMIT: the
# most seconds of one part (150).
set -u
kind=$(printf '%s' "${1:-GPU}" | tr '[:lower:]' '[:upper:]')
build=${BUILD:-build}
small=$(printf '%s' "$kind" | tr '[:upper:]' '[:lower:]')
limit=${LIMIT:-150}
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
[ -d .venv ] && VIRTUAL_ENV=${VIRTUAL_ENV:-$PWD/.venv} && export VIRTUAL_ENV
python=${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/}python3

found=$("$build/bin/leat" devices | grep "^$kind ")
if [ "$(printf '%s' "$found" | awk '{print $2}')" -gt 0 ] 2> /dev/null; then
    echo "$found"
else
    echo "skipped: no $kind"
    exit 0
fi

failed=0
rows=""
# part NAME COMMAND...: runs it, and notes how it went and the last line that says so.
part() {
    name=$1
    shift
    begin=$(date +%s)
    timeout "$limit" "$@" > "$out/log" 2>&1
    code=$?
    seconds=$(($(date +%s) - begin))
    case $code in
        0) result=passed ;;
        124) result="stopped after $limit s"; failed=1 ;;
        *) result="failed ($code)"; failed=1; tail -20 "$out/log" >&2 ;;
    esac
    said=$(grep -aE '[0-9]+ (passed|test)' "$out/log" | tail -1 | cut -c1-60)
    rows="$rows$(printf '%-12s %-22s %5d s  %s' "$name" "$result" "$seconds" "$said")
"
}

part operations env LEAT_CONFORM_DEVICE="$kind" "$build/tests/conform_test" ops_pjrt
part keras "$build/tests/golden" --only nn --device "$small" tests/golden/data
part training env PYTHONPATH="$build/python" LEAT_TEST_DEVICE="$kind:0" "$python" -B -m pytest -q -p no:cacheprovider \
    python/tests/test_pjrt.py -k "training or sequences or mixed or random or loops"
part network "$build/bin/leat" train --device "$small" --epochs 2 data
printf '\n%-12s %-22s %7s  %s\n%s' part result time said "$rows"
exit $failed
