"""What layers, models and their files are made of: tables, variables, configurations, the base of layers."""
