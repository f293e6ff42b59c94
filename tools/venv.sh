#!/bin/sh
# Makes .venv with the packages of python/requirements-test.txt, or brings it up to date; `venv.sh docs` adds those of
# python/requirements-docs.txt. Where it is current this touches no network. PYTHON names the interpreter; without it
# python3, which must be 3.11 or newer.
set -eu
cd "$(dirname "$0")/.."

# add NAME: the packages of python/requirements-NAME.txt; what they were made of is kept beside them.
add() {
    rm -f ".venv/made-of-$1.txt"
    .venv/bin/python -m pip install -q --disable-pip-version-check -r "python/requirements-$1.txt"
    cp "python/requirements-$1.txt" ".venv/made-of-$1.txt"
}

if ! cmp -s python/requirements-test.txt .venv/made-of-test.txt || ! .venv/bin/python -c "import numpy, pytest, scikit_build_core" 2>/dev/null; then
    python=${PYTHON:-python3}
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "venv: the Python package needs Python 3.11 or newer; name one with PYTHON=" >&2
        exit 1
    fi
    echo "venv: making .venv"
    "$python" -m venv .venv
    add test
fi
if [ "${1:-}" = docs ] && ! cmp -s python/requirements-docs.txt .venv/made-of-docs.txt; then
    add docs
fi
