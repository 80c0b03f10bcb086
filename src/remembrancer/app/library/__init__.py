"""Use cases of the library: precious quotes, the glossary, the digest, the boot pack."""
