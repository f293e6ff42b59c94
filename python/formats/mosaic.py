"""MosaicML Streaming without torch, transformers and clouds, which reading and writing files does not need.

These are modules whose names are empty classes while streaming is imported.
"""

import importlib.abc
import importlib.machinery
import sys
import types

_LEFT_OUT = {"torch", "torchvision", "transformers", "boto3", "botocore", "google", "paramiko", "oci", "azure",
             "matplotlib"}


class _Nothing(types.ModuleType):
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__init__": lambda self, *args, **kwargs: None,
                               "__class_getitem__": classmethod(lambda cls, item: cls)})
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        is_ours = name.partition(".")[0] in _LEFT_OUT
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_ours else None

    def create_module(self, spec):
        return _Nothing(spec.name)

    def exec_module(self, module):
        pass


_finder = _Finder()
sys.meta_path.append(_finder)  # behind the real ones
try:
    from streaming.base.format import reader_from_json
    from streaming.base.format.mds.writer import MDSWriter
finally:
    sys.meta_path.remove(_finder)
    for _name in [name for name, module in sys.modules.items() if isinstance(module, _Nothing)]:
        del sys.modules[_name]

__all__ = ["MDSWriter", "reader_from_json"]
