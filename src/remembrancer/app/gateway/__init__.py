"""The chat gateway: requests to a model's server on a client's behalf, with memory."""
