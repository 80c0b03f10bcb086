"""The black-box tests that run on one machine only, each with its reason.

All others use the fixture `server` and run wherever it is pointed: at a server of this machine, at
the Worker in Pyodide, and at the Worker in the platform's own runtime. None of them is skipped in
one of these places.

What servers log is searched for keys and for the texts that the tests sent (`logs.py`) once the
last test is over. Of a server that `BASE_URL` names there is no log here, so nothing is searched.
"""

from __future__ import annotations

LOCAL_ONLY = {
    "test_concurrency": "kills a server, and runs two on one data folder",
    "test_doors_alike": "asks through the command line and standard streams on a data folder, too, "
    "and compares every row of its database file",
    "test_program": "is about the installed program: how it starts, what it prints and logs",
    "test_week": "sets the product's clock to the week that it plays",
}
"""Why a module's tests need the program of this machine, by the module's name."""
