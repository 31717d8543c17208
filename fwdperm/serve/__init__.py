"""The daemon: the one place that wires the rooms together.

`sessions.py`   who is whose parent, and what of it is known rather than claimed
`rulebook.py`   the composed rulesets along a requester's parent chain
`desk.py`       one request's way from mail to published answer, without an event loop
`daemon.py`     the loop, the doorbell, the heartbeat, the prompter: starts them, and stops them in order

Never here: matching, analysis, wording of decisions.
"""
