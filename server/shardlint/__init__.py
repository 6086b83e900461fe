"""shardlint knows where JAX arrays live and which hand-offs to other libraries will fail."""

__version__ = "0.1.0"
