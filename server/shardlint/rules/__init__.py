"""Rules over hand-offs: which records' errors will happen, and the words for it."""
