"""The append-only record of everything: the audit, and what recovery replays.

Lives here: records as values (`record.py`, `tidy.py`, `line.py`, `state.py`: pure), the files they stand in
(`segments.py`, `log.py`, `prune.py`), and their readers (`replay.py`, `verify.py`, `query.py`).
Never here: what a record means for a decision, a session rule or a prompt.
"""
