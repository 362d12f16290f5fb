"""The client for asyncio. `_sync` is made of it by make/sync.py."""
