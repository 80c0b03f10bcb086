"""Zones come from the bundle's files, without the machinery of package resources."""

from __future__ import annotations

import subprocess
import sys


def test_zone_is_read_from_the_package_without_importing_its_resources() -> None:
    code = (
        "import sys, zoneinfo\n"
        "from remembrancer.edge.zones import use_packaged_zones\n"
        "before = set(sys.modules)\n"
        "use_packaged_zones()\n"
        "zone = zoneinfo.ZoneInfo('Asia/Singapore')\n"
        "print([path.endswith('/tzdata/zoneinfo') for path in zoneinfo.TZPATH])\n"
        "print(zone.key, set(sys.modules) - before)\n"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["[True]", "Asia/Singapore set()"]
