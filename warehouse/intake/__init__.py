"""The ways by which data come in, as jobs and pages see them: imports, dropped files, pulls.

START HERE: `imports.py`. Nothing here reads a file of data: that is the work of `jobs/importing`.
"""
