#!/bin/sh
# Makes .venv with the packages of python/requirements-test.txt, or brings it up to date. Where it is current this touches
# no network. PYTHON names the interpreter; without it python3, which must be 3.11 or newer.
set -eu
cd "$(dirname "$0")/.."

if cmp -s python/requirements-test.txt .venv/made-of.txt && .venv/bin/python -c 'import numpy, pytest' 2>/dev/null; then
    exit 0
fi
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "venv: the Python package needs Python 3.11 or newer; name one with PYTHON=" >&2
    exit 1
fi
echo "venv: making .venv"
rm -f .venv/made-of.txt
"$python" -m venv .venv
.venv/bin/python -m pip install -q --disable-pip-version-check -r python/requirements-test.txt
cp python/requirements-test.txt .venv/made-of.txt
