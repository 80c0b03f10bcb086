"""The product's name and version, as every door tells them. Any ring may import it."""

from __future__ import annotations

from typing import Final

NAME: Final = "Remembrancer"
"""The product's name."""

VERSION: Final = "0.1.0"
"""The version of this code; the same as in pyproject.toml."""
