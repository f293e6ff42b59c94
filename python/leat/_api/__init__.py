"""Names of ``tf.*`` itself that no line of the table makes."""
