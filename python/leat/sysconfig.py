"""``tf.sysconfig``: how the package was built."""

import collections
import os
from leat._core.later import public

__dir__ = public(globals())


def get_build_info():
    """What accelerators it was built for: none (``tf.sysconfig.get_build_info``)."""
    return collections.OrderedDict(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)


def get_lib():
    """The folder of the package, in which the library lies (``tf.sysconfig.get_lib``)."""
    return os.path.dirname(__file__)
