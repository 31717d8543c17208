"""The AI judge's place in the order: it may shorten the queue, never open a door.

`verdict.py`       what a judge can say, and what its silence is called
`instructions.py`  what it is told, always the same
`brief.py`         all it is shown, in five sections
`answer.py`        reading what it says, strictly
`limits.py`        breaker, budget, the run of its own rejections
`setup.py`         how the operator set it up
`failures.py`      what the SDK raises, by our codes
`key.py`           finding the key (edge)
`model.py`         asking (edge)
`retirement.py`    when the service stops offering a model (edge)

Lives here: asking for an opinion. Never here: what becomes of it (`decide.py`).
"""
