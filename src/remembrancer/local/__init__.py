"""The one-machine side: the only importer of sqlite3, files, sockets and threads."""
