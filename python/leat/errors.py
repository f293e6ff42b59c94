"""Exceptions by status code, under TensorFlow's names (``tf.errors``)."""

from leat import _native


class OpError(Exception):
    """What an operation fails with: ``message``, ``error_code``; the base of all of this module.

    Where it was is told by attributes, each None where it is not known: ``op`` (the operator and its label, as in
    ``map "decode"``), ``element`` (the number at this operator, from 0), ``file`` and ``byte`` (of the input).
    ``reason`` says what the failure is about where its class does not: ``"DTYPE"``, ``"SHAPE"``, ``"STRUCTURE"``,
    ``"VALUE"``, ``"END"``, ``"AFTER_FAILURE"``, ``"CALLBACK"``, or ``"NONE"``.
    """

    error_code = 2
    element = file = byte = None
    reason = "NONE"

    def __init__(self, *args):
        # TensorFlow makes them of (node_def, op, message); leat of the message alone.
        self.node_def, self.op = (args[0], args[1]) if len(args) >= 3 else (None, None)
        self.message = str(args[2] if len(args) >= 3 else args[0] if args else "")
        super().__init__(self.message)

    def _as(self, kind):
        """The same failure as an exception of class `kind`."""
        error = kind(None, self.op, self.message)
        error.element, error.file, error.byte, error.reason = self.element, self.file, self.byte, self.reason
        return error

    @property
    def experimental_payloads(self):
        """No payloads: an empty dictionary."""
        return {}

    def __str__(self):
        return self.message


_NAMES = ["Cancelled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
          "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Unimplemented",
          "Internal", "Unavailable", "DataLoss", "Unauthenticated"]
OK = 0
_CLASSES = [OpError]
for _code, _name in enumerate(_NAMES, 1):
    _class = type(f"{_name}Error", (OpError,), {
        "__doc__": f"Status {_native.status_name(_code)}.", "__module__": __name__, "error_code": _code})
    globals()[_class.__name__] = _class
    globals()[_native.status_name(_code)] = _code
    _CLASSES.append(_class)
_native.set_error_classes(_CLASSES)


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor that has no value yet was used where Python needs one."""


class NoGradientError(_CLASSES[UNIMPLEMENTED], LookupError):
    """A gradient through an operation that has none, for which TensorFlow raises LookupError."""
