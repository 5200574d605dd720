"""Sources of structured answers behind one protocol."""
