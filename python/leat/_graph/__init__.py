"""Operations and the graphs that they become: tracing, control flow, gradients, ``tf.function``."""
