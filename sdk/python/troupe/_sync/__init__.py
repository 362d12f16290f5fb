"""The client for everything else: made of `_async` by make/sync.py, do not edit."""
