"""Boosters on streams, with River's protocol."""
