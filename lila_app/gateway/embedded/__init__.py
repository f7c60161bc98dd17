"""The model that runs on this machine: its file, its process, and whose turn it is."""
