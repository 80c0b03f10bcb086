"""Use cases of recall: the few memories that one message needs, and why it was those."""
