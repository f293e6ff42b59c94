"""What is made of several tensors, or holds them: ragged and sparse tensors, slices, arrays of tensors, variables."""
