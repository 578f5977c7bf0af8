"""The write rules: a command and a view in, changes out. Pure."""
