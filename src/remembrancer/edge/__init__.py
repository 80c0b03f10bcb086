"""The Worker's side: the only importer of js, pyodide and workers."""
