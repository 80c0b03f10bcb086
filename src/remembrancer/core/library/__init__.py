"""The library: precious quotes, the glossary, the digest."""
