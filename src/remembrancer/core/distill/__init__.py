"""Distilling: what of conversations becomes memory, decided without a store and without a model."""
