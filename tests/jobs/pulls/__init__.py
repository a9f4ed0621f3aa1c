"""Pulls, against servers on loopback that speak the protocols of the sources."""
