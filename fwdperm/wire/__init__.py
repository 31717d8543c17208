"""What crosses a process boundary, as frozen values.

Lives here: ids, requests, responses, prompts and replies, heartbeats, and the strict reading of their JSON.
Never here: a file being opened (that is `inbox/`), a decision.
"""
