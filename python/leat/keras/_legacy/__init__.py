"""What Keras keeps of its second version: `keras.backend`'s functions, and `keras.preprocessing`."""
