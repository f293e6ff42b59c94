"""Which operation of TensorFlow's is which of leat's: a line is one, for both directions.

A line is leat's operation, TensorFlow's, the names of its outputs, and which of its attributes take which dtypes: T=0
is that of the first input; N is the number of inputs. What is more than that has a function of its own, in ``writers``
and ``readers``, and a line that says no operation of leat's.
"""

import functools

_SAME = """
abs Abs y T=0
acos Acos y T=0
acosh Acosh y T=0
add AddV2 z T=0
add_n AddN sum T=0 N
asin Asin y T=0
asinh Asinh y T=0
atan Atan y T=0
atan2 Atan2 z T=0
atanh Atanh y T=0
bias_add BiasAdd output T=0
bitwise_and BitwiseAnd z T=0
bitwise_or BitwiseOr z T=0
bitwise_xor BitwiseXor z T=0
ceil Ceil y T=0
cholesky Cholesky output T=0
cos Cos y T=0
cosh Cosh y T=0
digamma Digamma y T=0
divide RealDiv z T=0
divide_no_nan DivNoNan z T=0
elu Elu activations T=0
equal Equal z T=0
erf Erf y T=0
erfc Erfc y T=0
erfinv Erfinv y T=0
exp Exp y T=0
expm1 Expm1 y T=0
fill Fill output T=1 index_type=0
floor Floor y T=0
floordiv FloorDiv z T=0
floormod FloorMod z T=0
gather_nd GatherNd output Tparams=0 Tindices=1
greater Greater z T=0
greater_equal GreaterEqual z T=0
identity Identity output T=0
invert Invert y T=0
is_finite IsFinite y T=0
is_inf IsInf y T=0
is_nan IsNan y T=0
left_shift LeftShift z T=0
less Less z T=0
less_equal LessEqual z T=0
lgamma Lgamma y T=0
log Log y T=0
log1p Log1p y T=0
log_matrix_determinant LogMatrixDeterminant sign,log_abs_determinant T=0
matrix_logarithm MatrixLogarithm output T=0
matrix_square_root MatrixSquareRoot output T=0
log_softmax LogSoftmax logsoftmax T=0
logical_and LogicalAnd z
logical_not LogicalNot y
logical_or LogicalOr z
matrix_determinant MatrixDeterminant output T=0
maximum Maximum z T=0
minimum Minimum z T=0
multiply Mul z T=0
multiply_no_nan MulNoNan z T=0
ndtri Ndtri y T=0
negate Neg y T=0
nextafter NextAfter output T=0
not_equal NotEqual z T=0
ones_like OnesLike y T=0
polygamma Polygamma z T=0
pow Pow z T=0
rank Rank output T=0
reciprocal Reciprocal y T=0
relu Relu activations T=0
relu6 Relu6 activations T=0
relu_grad ReluGrad backprops T=0
right_shift RightShift z T=0
rint Rint y T=0
round Round y T=0
rsqrt Rsqrt y T=0
segment_max SegmentMax output T=0 Tindices=1
segment_mean SegmentMean output T=0 Tindices=1
segment_min SegmentMin output T=0 Tindices=1
segment_prod SegmentProd output T=0 Tindices=1
segment_sum SegmentSum output T=0 Tindices=1
select SelectV2 output T=1
serialize_tensor SerializeTensor serialized T=0
sigmoid Sigmoid y T=0
sign Sign y T=0
sin Sin y T=0
sinh Sinh y T=0
softmax Softmax softmax T=0
softplus Softplus activations T=0
sqrt Sqrt y T=0
square Square y T=0
squared_difference SquaredDifference z T=0
stop_gradient StopGradient output T=0
string_strip StringStrip output
subtract Sub z T=0
tan Tan y T=0
tanh Tanh y T=0
tensor_scatter_nd_add TensorScatterAdd output T=0 Tindices=1
tensor_scatter_nd_max TensorScatterMax output T=0 Tindices=1
tensor_scatter_nd_min TensorScatterMin output T=0 Tindices=1
tensor_scatter_nd_sub TensorScatterSub output T=0 Tindices=1
tensor_scatter_nd_update TensorScatterUpdate output T=0 Tindices=1
truncatediv TruncateDiv z T=0
truncatemod TruncateMod z T=0
where Where index T=0
xdivy Xdivy z T=0
xlog1py Xlog1py z T=0
xlogy Xlogy z T=0
zeros_like ZerosLike y T=0
zeta Zeta z T=0
"""

# The names of outputs of the others, and the attributes with dtypes that what is written needs.
_OUTPUTS = """
AdjustContrastv2 output T=0
AdjustHue output T=0
AdjustSaturation output T=0
BandedTriangularSolve output T=0
BroadcastGradientArgs r0,r1
CropAndResize crops T=0
DecodeBase64 output
DecodeImage image
DecodeJpeg image
DecodePng image
DecodeRaw output
Eig e,v T=0
EncodeBase64 output
EncodePng contents T=0
ExtractImagePatches patches T=0
HSVToRGB output T=0
ImageProjectiveTransformV3 transformed_images
ParseTensor output
RGBToHSV output T=0
RandomShuffle output T=0
ReduceJoin output
ResizeArea resized_images T=0
ResizeBicubic resized_images T=0
ResizeBilinear resized_images T=0
ResizeNearestNeighbor resized_images T=0
ScaleAndTranslate resized_images T=0
TridiagonalSolve output T=0
TruncatedNormal output T=0
UnicodeDecodeWithOffsets row_splits,char_values,char_to_byte_starts
UnicodeDecode row_splits,char_values
UnicodeEncode output Tsplits=1
UnicodeScript output
UnicodeTranscode output
ComputeAccidentalHits indices,ids,weights
CTCBeamSearchDecoder decoded_indices,decoded_values,decoded_shape,log_probability T=0
CTCGreedyDecoder decoded_indices,decoded_values,decoded_shape,log_probability T=0
Dilation2D output T=0
EditDistance output T=1
FakeQuantWithMinMaxArgs outputs
FakeQuantWithMinMaxVars outputs
FakeQuantWithMinMaxVarsPerChannel outputs
MaxPoolWithArgmax output,argmax T=0
SetSize size T=1
SparseFillEmptyRows output_indices,output_values,empty_row_indicator,reverse_index_map T=1
SparseReshape output_indices,output_shape
SparseTensorDenseMatMul product T=1 Tindices=0
SparseToSparseSetOperation result_indices,result_values,result_shape T=1
All output
Any output
AnonymousHashTable table_handle
ArgMax output T=0
ArgMin output T=0
AsString output T=0
Assert
AssignAddVariableOp dtype=1
AssignSubVariableOp dtype=1
AssignVariableOp dtype=1
AvgPool output T=0
BatchMatMulV2 output T=0
Bitcast output T=0
BroadcastTo output T=0 Tidx=1
Case output
Cast y SrcT=0
CheckNumerics output T=0
Const output
Conv2D output T=0
Conv2DBackpropFilter output T=0
Conv2DBackpropInput output T=2
ConcatV2 output
Cumprod out T=0 Tidx=1
CumulativeLogsumexp out T=0 Tidx=1
Cumsum out T=0 Tidx=1
DenseBincount output Tidx=0 T=2
DepthwiseConv2dNative output T=0
DynamicPartition outputs T=0
Einsum output T=0 N
EnsureShape output T=0
ExpandDims output T=0 Tdim=1
FusedBatchNormV3 y,batch_mean,batch_variance,reserve_space_1,reserve_space_2,reserve_space_3 T=0 U=1
GatherV2 output Tparams=0 Tindices=1 Taxis=2
HashTableV2 table_handle
IdentityN output
If output
InTopKV2 precision T=1
InitializeTableV2 Tkey=1 Tval=2
LinSpace output T=0 Tidx=2
LookupTableExportV2 keys,values
LookupTableFindV2 values Tin=1 Tout=2
LookupTableSizeV2 size
Lu lu,p T=0
MatMul product T=0
MatrixBandPart band T=0 Tindex=1
MatrixDiagPartV3 diagonal T=0
MatrixDiagV3 output T=0
MatrixInverse output T=0
MatrixSetDiagV3 output T=0
MatrixSolve output T=0
MatrixTriangularSolve output T=0
Max output T=0 Tidx=1
MaxPool output T=0
Mean output T=0 Tidx=1
Min output T=0 Tidx=1
MirrorPad output T=0 Tpaddings=1
MutableDenseHashTableV2 table_handle
MutableHashTableV2 table_handle
NoOp
OneHot output TI=0 T=2
Pack output T=0 N
PadV2 output T=0 Tpaddings=1
PartitionedCall output
Placeholder output
Prod output T=0 Tidx=1
Qr q,r T=0
RaggedTensorToTensor result
RandomStandardNormal output T=0
RandomUniform output T=0
Range output Tidx=0
ReadVariableOp value
RegexFullMatch output
RegexReplace output
Reshape output T=0 Tshape=1
ResourceGather output Tindices=1
RestoreV2 tensors
ReverseSequence output T=0 Tlen=1
ReverseV2 output T=0 Tidx=1
Roll output T=0 Tshift=1 Taxis=2
SaveV2
ScatterNd output Tindices=0 T=1
SelfAdjointEigV2 e,v T=0
Shape output T=0
ShapeN output
Size output T=0
Slice output T=0 Index=1
SparseSoftmaxCrossEntropyWithLogits loss,backprop T=0 Tlabels=1
Split output T=1
SplitV output T=0 Tlen=1
Squeeze output T=0
StatefulPartitionedCall output
StatelessCase output
StatelessIf output
StatelessMultinomial output T=0 Tseed=2
StatelessRandomGetKeyCounter key,counter Tseed=0
StatelessRandomNormalV2 output Tshape=0
StatelessRandomUniformIntV2 output Tshape=0 dtype=4
StatelessRandomUniformV2 output Tshape=0
StatelessTruncatedNormalV2 output Tshape=0
StatelessWhile output
StaticRegexFullMatch output
StaticRegexReplace output
StridedSlice output T=0 Index=1
StringFormat output
StringJoin output N
StringLength output
StringLower output
StringNGrams ngrams,ngrams_splits Tsplits=1
StringSplit indices,values,shape
StringSplitV2 indices,values,shape
StringToHashBucket output
StringToHashBucketFast output
StringToHashBucketStrong output
StringToNumber output
StringUpper output
Substr output T=1
Sum output T=0 Tidx=1
Svd s,u,v T=0
TensorListElementShape element_shape
TensorListFromTensor output_handle
TensorListGather values
TensorListGetItem item
TensorListLength length
TensorListPopBack output_handle,tensor
TensorListPushBack output_handle
TensorListReserve handle
TensorListSetItem output_handle
TensorListStack tensor
Tile output T=0 Tmultiples=1
TopKV2 values,indices T=0 Tk=1
Transpose y T=0 Tperm=1
Unique y,idx T=0
UniqueV2 y,idx T=0
UniqueWithCounts y,idx,count T=0
UnicodeDecodeWithOffsets row_splits,char_values,char_to_byte_starts
Unpack output T=0
UnsortedSegmentMax output T=0 Tindices=1 Tnumsegments=2
UnsortedSegmentMin output T=0 Tindices=1 Tnumsegments=2
UnsortedSegmentProd output T=0 Tindices=1 Tnumsegments=2
UnsortedSegmentSum output T=0 Tindices=1 Tnumsegments=2
VarHandleOp resource
VariableShape output
While output
"""


class Line:
    """An operation of TensorFlow's: the names of its outputs, and [(attribute, where its dtype is)]."""

    __slots__ = ("name", "own", "outputs", "dtypes", "counted")

    def __init__(self, name, own, outputs, rest):
        self.name, self.own = name, own
        self.outputs = [one for one in outputs.split(",") if one]
        self.dtypes = [tuple(word.split("=")) for word in rest if "=" in word]
        self.counted = "N" in rest


@functools.cache
def _lines():
    found = {}
    for line in _SAME.split("\n"):
        own, *words = line.split() or [None]
        if words:
            found[words[0]] = Line(words[0], own, words[1], words[2:])
    for line in _OUTPUTS.split("\n"):
        words = line.split()
        if words:
            has_outputs = len(words) > 1 and "=" not in words[1]
            found[words[0]] = Line(words[0], None, words[1] if has_outputs else "", words[1 + has_outputs:])
    return found


def line_of(name):
    """The Line of TensorFlow's operation of a name; None: it has none."""
    return _lines().get(name)


@functools.cache
def same():
    """{leat's operation: TensorFlow's} of those that are one and the same."""
    return {line.own: name for name, line in _lines().items() if line.own is not None}
