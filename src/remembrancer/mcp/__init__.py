"""The Model Context Protocol door: a router on the standard library, without sessions.

It serves the current revision and three earlier ones, each request by its own rules. It knows
nothing of HTTP responses, sockets or standard streams: a decoded message comes in, a message
goes out. `http/` and `local/` import it; it imports `app/` and further in.
"""
