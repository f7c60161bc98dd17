"""What is kept from whom: redaction before a sink, the vault, and restoring."""
