//! Whose value: facts, trusted data, variables and nodes, and what a file's own path says of them.
