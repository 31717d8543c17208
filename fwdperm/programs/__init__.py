"""The book of programs: everything this house knows about a program, once.

Lives here: the pages (`book/`, one TOML table a program), the values they become (`program.py`), the look-up that folds
a typed word to the program it means (`lookup.py`), the reading of a command by its page (`invocation.py`), variables of
the environment (`variables.py`). Pure, but for `source.py`, which makes the pages into `compiled.py`.
Never here: a rule, a class of danger decided, a path.

To add a program, add a table: see `docs/how-to/add-a-program.md`.
"""
