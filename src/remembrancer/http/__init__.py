"""The HTTP door: one ASGI app made from one route table.

It parses untrusted input once into typed values, calls a use case and maps the outcome to the
wire. No rule of the domain and no SQL is here; only the wire modules import it.
"""
