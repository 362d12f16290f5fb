"""Of the engine that this was made with."""
__version__ = "0.1.0"
