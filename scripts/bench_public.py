"""Measures recall through the use cases that clients call: saved, embedded, searched, quoted.

What is done is `recall_public.py`; how the parts of recall do one by one is `bench_recall.py`.
"""

from __future__ import annotations

import sys

from recall_public import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
