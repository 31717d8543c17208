"""The recorded ruleset: what an operator wrote down beforehand, and what it says of a unit.

Lives here: rules, patterns, layers, the ruleset they compose, the chain of rulesets along a session tree; and, at the
edge, reading them from TOML. Never here: how a request becomes units, session rules, the judge.
"""
