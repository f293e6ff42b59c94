"""What users see of traced functions, as TensorFlow 2.21 prints it, and messages of graphs."""

import inspect

import pytest

import leat as tf

SIGNATURE = """Input Parameters:
  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None,), dtype=tf.float32, name=None)
  y (POSITIONAL_OR_KEYWORD): Literal[2]
  k (KEYWORD_ONLY): Literal[3.0]
Output Type:
  Dict[['a', TensorSpec(shape=(None,), dtype=tf.float32, name=None)], ['b', List[TensorSpec(shape=(None,), \
dtype=tf.float32, name=None)]]]
Captures:
  None"""
TYPE = ("(x: TensorSpec(shape=(None,), dtype=tf.float32, name=None), y: Literal[2], *, k: Literal[3.0]) -> Dict[['a', "
        "TensorSpec(shape=(None,), dtype=tf.float32, name=None)], ['b', List[TensorSpec(shape=(None,), "
        "dtype=tf.float32, name=None)]]]")


@pytest.fixture
def concrete():
    @tf.function
    def f(x, y=2, *, k=3.):
        return {"a": x * y, "b": [x + k]}
    return f.get_concrete_function(tf.TensorSpec([None], tf.float32), y=2)


def test_signatures_are_printed_as_tensorflow_does(concrete):
    assert repr(concrete.function_type) == TYPE
    assert concrete.pretty_printed_signature() == SIGNATURE
    assert concrete.pretty_printed_signature(verbose=False) == TYPE
    assert str(concrete) == "ConcreteFunction " + SIGNATURE
    assert repr(concrete).startswith(f"<ConcreteFunction {TYPE} at 0x")
    assert concrete.output_shapes == {"a": tf.TensorShape([None]), "b": [tf.TensorShape([None])]}
    assert concrete.output_dtypes == {"a": tf.float32, "b": [tf.float32]}
    parameter = concrete.function_type.parameters["y"]
    assert (parameter.name, parameter.kind, parameter.optional, repr(parameter.type_constraint)) == (
        "y", inspect.Parameter.POSITIONAL_OR_KEYWORD, False, "Literal[2]")


def test_inputs_and_outputs_have_names(concrete):
    assert repr(concrete.inputs) == "[<tf.Tensor 'x:0' shape=(None,) dtype=float32>]"
    assert repr(concrete.outputs) == ("[<tf.Tensor 'Identity:0' shape=(None,) dtype=float32>, "
                                      "<tf.Tensor 'Identity_1:0' shape=(None,) dtype=float32>]")
    assert concrete.captured_inputs == () and concrete.variables == ()


def test_all_traces_of_a_function_are_printed():
    @tf.function
    def g(x):
        if x > 0:
            return x
        return -x
    for value in (tf.constant(1), tf.constant(1.), 3):
        g(value)
    text = g.pretty_printed_concrete_signatures()
    assert [line for line in text.split("\n") if "(POSITIONAL" in line] == [
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.int32, name=None)",
        "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.float32, name=None)",
        "  x (POSITIONAL_OR_KEYWORD): Literal[3]"]
    assert text.count("\n\n") == 2 and g.experimental_get_tracing_count() == 3


def test_declared_names_and_variables_stand_in_a_signature():
    v = tf.Variable(1.)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="q")])
    def g(x):
        return x * v
    lines = g.get_concrete_function().pretty_printed_signature().split("\n")
    assert lines[1] == "  x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.float32, name='q')"
    assert lines[-1] == f"  {id(v)}: TensorSpec(shape=(), dtype=tf.resource, name=None)"
    unnamed = tf.function(lambda x: x, input_signature=[tf.TensorSpec([])]).get_concrete_function()
    assert repr(unnamed).startswith("<ConcreteFunction (x: TensorSpec(shape=(), dtype=tf.float32, name=None)) -> ")


def test_a_graph_lists_its_operations(concrete):
    definition = concrete.graph.as_graph_def()
    assert [node.op for node in definition.node][0] == "Placeholder"
    product = next(node for node in definition.node if node.op == "multiply")
    assert list(product.input)[0] == definition.node[0].name
    assert [operation.type for operation in concrete.graph.get_operations()] == [node.op for node in definition.node]
    assert concrete.graph.get_operation_by_name(product.name).type == "multiply"
    again = type(definition).FromString(definition.SerializeToString())
    assert again == definition and again.node[0].attr["T"].type == 1
    assert "type: DT_FLOAT" in str(again)
    with pytest.raises(KeyError, match="nothing"):
        concrete.graph.get_operation_by_name("nothing")


def test_arguments_of_a_graph_have_their_names():
    @tf.function
    def f(x, *rest, k=None):
        return tf.cond(k > 0.0, lambda: tf.reduce_sum(x), lambda: rest[0]) + tf.reduce_sum(x)
    one = tf.constant(1.0)
    nodes = f.get_concrete_function(tf.constant([1.0]), one, k=one).graph.as_graph_def().node
    assert [node.name for node in nodes][:3] == ["x", "rest_0", "k"]
    assert next(list(node.input) for node in nodes if node.name.startswith("reduce_sum")) == ["x"]


def test_types_say_what_a_function_is(concrete):
    kinds = tf.types.experimental
    assert isinstance(concrete, kinds.ConcreteFunction) and not isinstance(concrete, kinds.PolymorphicFunction)
    assert isinstance(tf.function(abs), kinds.GenericFunction)
    assert isinstance(concrete, kinds.Callable) and isinstance([1.], kinds.TensorLike)
