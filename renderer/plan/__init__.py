"""What was said becomes files: steps, pointers, what lines lead to, and what is held."""
