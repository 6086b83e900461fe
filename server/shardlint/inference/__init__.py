"""What external names mean, asked of jedi in a sealed process of its own. The way in is `door`."""
