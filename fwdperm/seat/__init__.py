"""The one place where a human is asked, one question at a time.

Lives here: the queue and the picture of a question (pure), the line prompter and the files through which any other
interface reads questions and writes answers (edges). Never here: what an answer causes.
"""
