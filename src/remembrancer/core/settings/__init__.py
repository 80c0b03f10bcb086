"""Settings of a namespace: the defaults that the tools use, and the time zone."""
