"""The script `leat` of the installed package: the command line tool, which lies in the extension.

The package itself is not imported, nor numpy with its threads, to which Ctrl-C would go, but for `convert --to`.
"""

import importlib.util
import os
import sys


def main():
    """Runs the command line; returns its exit status."""
    package = importlib.util.find_spec("leat")
    folder = package.submodule_search_locations[0]
    path = os.path.join(folder, "_native.abi3.so")
    if not os.path.exists(path):
        print(f"leat: {path} is missing: {folder} is not libleat's. The index has another project by the name leat; "
              "pip uninstall leat libleat, then pip install libleat", file=sys.stderr)
        return 1
    spec = importlib.util.spec_from_file_location("leat._native", path)
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    if sys.argv[1:2] == ["convert"] and any(text.split("=")[0] in ("--to", "--from") for text in sys.argv):
        from leat.data.formats import convert  # files of formats whose packages are Python's
        return convert.main(sys.argv[2:])
    script = os.path.abspath(sys.argv[0])
    return native.tool([os.fsencode(text) for text in ["leat", *sys.argv[1:]]], os.fsencode(script))


if __name__ == "__main__":
    sys.exit(main())
