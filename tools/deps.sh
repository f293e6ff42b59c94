#!/bin/sh
# Installs the Debian packages named as arguments that are not installed yet. Touches neither the
# network nor sudo when nothing is missing. On a system without dpkg it only says what is needed.
set -eu

if ! command -v dpkg-query >/dev/null; then
    echo "deps: this is not Debian; please install what these packages hold: $*" >&2
    exit 0
fi
missing=
for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    exit 0
fi
echo "deps: installing$missing"
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
