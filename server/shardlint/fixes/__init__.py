"""Repairs made from records' examples: templates, the edits they become, and the checks before one is offered."""
