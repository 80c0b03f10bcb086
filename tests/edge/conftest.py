"""The Worker's modules import the platform's; here they find stand-ins."""

from __future__ import annotations

from tests.edge.standins import install

install()
