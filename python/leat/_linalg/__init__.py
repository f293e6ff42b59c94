"""Functions and classes of ``tf.linalg`` that are rare; ``leat.linalg`` says which name stands where."""
