"""``tf.version``: what this is a version of."""

from leat import _native

VERSION = _native.version()
GIT_VERSION = VERSION
