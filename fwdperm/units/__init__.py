"""From facts to units: what must be permitted for a request to be permitted.

Lives here: one small module per kind of surface, and `breakdown`. Pure. Never here: a rule, a class of danger.
"""
