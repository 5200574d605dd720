"""What an agent plugs in: the memory object, the command line and the integrations."""
