"""Items: the one central record for tasks and memories. Fields, states, commands, decisions."""
