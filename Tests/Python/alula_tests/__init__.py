"""The suites that drive the running service from outside, and what they share.

Each suite is run as a module: `python3 -m alula_tests.crash --alula …` with Tests/Python in PYTHONPATH, as the Makefile does.
"""
