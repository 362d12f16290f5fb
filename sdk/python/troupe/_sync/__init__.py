# Made of ../_async/__init__.py by make/sync.py: do not edit.
"""The client without asyncio."""
