"""Files of networks: fetched from the hub, known by version, and explained when they are not here.

Used by editors and evaluators alike, neither of which may import the other.
"""
