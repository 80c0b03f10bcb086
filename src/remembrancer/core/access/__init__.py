"""Access: scopes, tokens, the environment's keys and keys that a person makes."""
