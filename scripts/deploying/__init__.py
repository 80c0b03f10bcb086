"""Deploys to Cloudflare with the platform's own tool; `scripts/deploy` is its face.

Standard library only: in Cloudflare's build environment it runs before anything of Python is
installed. It is no second client of the API: whatever is read or written there, `wrangler` does.
"""
