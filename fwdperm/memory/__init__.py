"""What people taught by their replies: session rules, and the history beside them.

`values.py`    what can be taught, and where it holds
`fold.py`      journal entries -> what was taught, one by one, the same after every restart
`grants.py`    the grant that covers a unit, found among ten thousand
`view.py`      what one requester may use of it: scope by the parent chain, expiry
`lesson.py`    what an *always* would teach, checked against its own request before it counts
`turns.py`     which notes the judge may read in a turn
`render.py`    the rules section as the judge reads it
`history.py`   what was decided lately, and how often: the judge's raw material, and the preview's
`project.py`   grants that a project's file keeps
`preview.py`   what a person reads before a rule is saved

Lives here: computation only. Never here: a clock, the disk, a session's tree (the caller gives the chain).
"""
