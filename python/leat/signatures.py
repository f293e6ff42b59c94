"""Functions whose parameters are known only when the package is imported: those of the library's tables.

A function of a table line is a copy of one small function under other names of parameters, so that no source has to be
compiled: hundreds of them cost less of the import than one module. They are functions like any other: ``help``,
``inspect.signature`` and the texts of TypeError know their parameters and defaults.
"""

import types

from leat import dtypes

REQUIRED = object()


def _template():
    return call(locals())  # noqa: F821 - `call` is a global of each function's own


def function(name, parameters, call, doc, module):
    """A function of `parameters`, [(name, default or REQUIRED)], that returns ``call({parameter: value})``."""
    names = tuple(parameter for parameter, _ in parameters)
    code = _template.__code__.replace(co_name=name, co_qualname=name, co_filename=f"<{module}.{name}>",
                                      co_argcount=len(names), co_nlocals=len(names), co_varnames=names)
    optional = [default for _, default in parameters if default is not REQUIRED]
    if any(default is REQUIRED for _, default in parameters[len(names) - len(optional):]):
        raise ValueError(f"{name}: a parameter without a default follows one with a default")
    made = types.FunctionType(code, {"call": call, "__builtins__": __builtins__, "__name__": module}, name,
                              tuple(optional))
    made.__doc__ = doc
    made.__module__ = module
    return made


def parse(text):
    """The parameters of source text, as `function` takes them: "count, dtype=dtypes.int64"."""
    made = eval(f"lambda {text}: 0", {"dtypes": dtypes})
    names, defaults = made.__code__.co_varnames, made.__defaults__ or ()
    return list(zip(names, (REQUIRED,) * (len(names) - len(defaults)) + defaults))
