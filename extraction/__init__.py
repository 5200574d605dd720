"""How a candidate is made: an episode goes in, grounded and typed candidates come out."""
