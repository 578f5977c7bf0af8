"""Plain HTTP: the door every request passes, GraphQL over it, and exports."""
