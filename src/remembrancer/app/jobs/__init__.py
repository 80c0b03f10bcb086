"""Jobs: what is done without anybody asking, on one frame."""
