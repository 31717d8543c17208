"""The AI judge's place in the order: it may shorten the queue, never open a door.

Lives here: what a judge can say (`verdict.py`, pure). Never here: what becomes of it (`decide.py`).
"""
