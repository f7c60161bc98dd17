"""What calls cost and what caches saved: the account of every call, the budget, the reports."""
