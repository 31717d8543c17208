"""The one door to the file system of the children: mail in, answers out, the doorbell, the heartbeat, the lease.

Lives here: everything that touches the inbox tree. Never here: what a request means, or what is decided about it.
"""
