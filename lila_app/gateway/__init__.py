"""The model gateway: one port, a provider a module, and how a name leads to one."""
