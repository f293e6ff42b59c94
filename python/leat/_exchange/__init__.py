"""What leat.torch is made of."""
