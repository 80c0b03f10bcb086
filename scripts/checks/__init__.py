"""The house rules that no linter knows; `scripts/check` runs them.

Each module has one function `check(tree)` that yields problems. `tests/check` shows each
of them failing. There is no list of exceptions: when a rule bites, the code is split or deleted.
"""
