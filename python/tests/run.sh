#!/bin/sh
# The tests of the Python package against what lies in a build folder: run.sh BUILD [ARGUMENT OF PYTEST...], without arguments
# all of them. Exit status 77 where they cannot run, with the reason; ctest then says that the test was skipped.
set -eu
cd "$(dirname "$0")/../.."
build=$1
shift
if [ ! -x .venv/bin/python ]; then
    echo "SKIPPED: there is no .venv to run the Python tests with; \`make deps\` makes it"
    exit 77
fi
if [ ! -e "$build/python/leat/_native.abi3.so" ]; then
    echo "SKIPPED: the Python package was not built; \`make deps\` installs Python's headers"
    exit 77
fi
# Compiling everything anew would take longer than most files' tests.
unset PYTHONDONTWRITEBYTECODE
LEAT_BUILD=$build PYTHONPATH=$build/python exec .venv/bin/python -m pytest -q "$@"
