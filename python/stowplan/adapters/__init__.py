"""Stowage behind the interfaces of other planners; each module needs only the project it serves."""
