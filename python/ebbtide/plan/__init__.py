"""Passes over a program, before an engine runs it: what can be left out, what can be worked out."""
