"""Pure domain rules: standard library only, no clock, randomness, environment or I/O.

Any ring may import it.
"""
