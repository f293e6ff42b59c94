#!/bin/sh
# Makes .venv with the packages of python/requirements-test.txt, or brings it up to date; `venv.sh docs` and `venv.sh fuzz` add
# those of python/requirements-docs.txt and python/requirements-fuzz.txt. `venv.sh interop` makes .venv-interop with python/requirements-interop.txt instead,
# `venv.sh formats` .venv-formats with python/requirements-formats.txt, `venv.sh engines` .venv-engines with python/requirements-engines.txt, `venv.sh remote` .venv-remote, moto's S3 and an emulator of Google's, with
# python/requirements-remote.txt, `venv.sh frameworks` .venv-frameworks with python/requirements-frameworks.txt, `venv.sh differ` .venv-differ, TensorFlow's, with
# python/requirements-differ.txt, `venv.sh release` .venv-release, which makes wheels, with python/requirements-release.txt. Where they are current this touches no network. PYTHON names the interpreter; without it python3, which must be 3.11 or newer.
set -eu
cd "$(dirname "$0")/.."

# add FOLDER NAME: the packages of python/requirements-NAME.txt; what they were made of is kept beside them. Those of formats
# are taken as they are listed: mosaicml-streaming asks for torch and clouds, which its files do not need.
add() {
    rm -f "$1/made-of-$2.txt"
    deps=
    [ "$2" != formats ] || deps=--no-deps
    "$1/bin/python" -m pip install -q --disable-pip-version-check $deps -r "python/requirements-$2.txt"
    cp "python/requirements-$2.txt" "$1/made-of-$2.txt"
}

# make FOLDER NAME MODULES: the folder with these packages, unless it has them and imports the modules.
make() {
    if cmp -s "python/requirements-$2.txt" "$1/made-of-$2.txt" && "$1/bin/python" -c "import $3" 2>/dev/null; then
        return
    fi
    python=${PYTHON:-python3}
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "venv: the Python package needs Python 3.11 or newer; name one with PYTHON=" >&2
        exit 1
    fi
    echo "venv: making $1"
    "$python" -m venv "$1"
    add "$1" "$2"
}

case "${1:-}" in
interop) make .venv-interop interop 'numpy, pytest' ;;
formats) make .venv-formats formats 'numpy, pytest, pyarrow' ;;
engines) make .venv-engines engines 'numpy, pytest, ray, kubernetes_validate' ;;
frameworks) make .venv-frameworks frameworks 'numpy, pytest, torch, torchdata, sklearn, pytorch_lightning, ray, keras' ;;
remote) make .venv-remote remote 'moto, flask, gcp_storage_emulator' ;;
release) make .venv-release release 'auditwheel, elftools, numpy, scikit_build_core' ;;
differ) make .venv-differ differ 'numpy, tensorflow' ;;
*)
    make .venv test 'numpy, pytest, scikit_build_core'
    for more in docs fuzz; do
        if [ "${1:-}" = $more ] && ! cmp -s python/requirements-$more.txt .venv/made-of-$more.txt; then
            add .venv $more
        fi
    done
    ;;
esac
