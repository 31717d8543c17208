"""Guard: deterministic classes of danger.

Lives here: `assess`, and behind it the tables: the positive list (`positive.py`), perils (`dangers.py`), catastrophes
(`critical.py`, `flows.py`), sensitive paths (`markers.py`), our own files (`own.py`). Pure.
Never here: a rule, a model, a question to anybody.
"""

from __future__ import annotations

from fwdperm.guard.assess import assess, assess_unit
from fwdperm.guard.classes import Assessment, Danger
from fwdperm.guard.surroundings import Surroundings

__all__ = ["Assessment", "Danger", "Surroundings", "assess", "assess_unit"]
