"""Models behind the ports, over whatever way out there is."""
