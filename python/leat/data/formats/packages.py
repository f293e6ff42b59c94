"""Packages that formats need and leat does not bring."""

import importlib


def need(module, function):
    """The module, imported; where its package is missing ImportError, which says what to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise
        raise ImportError(f"{function} needs the package {package}; install it (pip install {package})") from None
