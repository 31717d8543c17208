"""Measuring a judge on cases, through the very order that serves.

`cases.py`    a row of a case file
`world.py`    a row -> a request, and what it is decided against
`score.py`    what came out -> counts
`run.py`      putting the rows to a model, or to none

Lives here: the yardstick. Never here: a decision of its own, a change to anything.
"""
