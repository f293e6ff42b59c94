"""Which operator of ONNX is which operation of leat's, where both take the same and nothing else: a line is one."""

import functools

FIRST_OPSET, LAST_OPSET = 18, 23
# ONNX's versions of files (ir_version) by opset: the first that may hold it.
IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11}
DOMAINS = {"ai.onnx.ml": 3}

_SAME = """
abs Abs
acos Acos
acosh Acosh
add Add
add_n Sum
asin Asin
asinh Asinh
atan Atan
atanh Atanh
bias_add Add
bitwise_and BitwiseAnd
bitwise_or BitwiseOr
bitwise_xor BitwiseXor
ceil Ceil
check_numerics Identity
cos Cos
cosh Cosh
divide Div
elu Elu
ensure_shape Identity
equal Equal
erf Erf
exp Exp
floor Floor
greater Greater
greater_equal GreaterOrEqual
identity Identity
invert BitwiseNot
is_nan IsNaN
less Less
less_equal LessOrEqual
log Log
logical_and And
logical_not Not
logical_or Or
logical_xor Xor
maximum Max
minimum Min
multiply Mul
negate Neg
pow Pow
reciprocal Reciprocal
relu Relu
rint Round
round Round
sigmoid Sigmoid
sign Sign
sin Sin
sinh Sinh
softplus Softplus
sqrt Sqrt
stop_gradient Identity
subtract Sub
tan Tan
tanh Tanh
truncatediv Div
"""


@functools.cache
def same():
    """{leat's operation: ONNX's} of those that are one and the same."""
    return dict(line.split() for line in _SAME.strip().splitlines())
