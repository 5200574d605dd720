"""What is true: schemas, policy, timelines, and the stores that keep them."""
