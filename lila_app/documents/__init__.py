"""Documents: found, read, cut into chunks and indexed."""
