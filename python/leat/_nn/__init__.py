"""Functions of ``tf.nn`` by family; ``leat.nn`` says which name stands where."""
