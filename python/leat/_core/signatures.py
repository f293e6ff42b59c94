"""Functions whose parameters are known only when the package is imported: those of the library's tables.

A function of a table line is a copy of one small function under other names of parameters, so that no source has to be
compiled: hundreds of them cost less of the import than one module. They are functions like any other: ``help``,
``inspect.signature`` and the texts of TypeError know their parameters and defaults.
"""

import types

from leat import dtypes

REQUIRED = object()
_VARKEYWORDS = 0x08  # inspect.CO_VARKEYWORDS, without the import


def _template():
    return call(locals())  # noqa: F821 - `call` is a global of each function's own


def function(name, parameters, call, doc, module, rest=None):
    """A function of `parameters`, [(name, default or REQUIRED)], that returns ``call({parameter: value})``.

    `name` may be qualified (``Class.method``). `rest`: the parameter that takes all other keywords as a dictionary.
    """
    names = tuple(parameter for parameter, _ in parameters)
    variables = names if rest is None else (*names, rest)
    flags = _template.__code__.co_flags | (0 if rest is None else _VARKEYWORDS)
    name, qualified = name.rsplit(".", 1)[-1], name
    code = _template.__code__.replace(co_name=name, co_qualname=qualified, co_filename=f"<{module}.{qualified}>",
                                      co_argcount=len(names), co_nlocals=len(variables), co_varnames=variables,
                                      co_flags=flags)
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
