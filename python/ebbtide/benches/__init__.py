"""Benches: workloads that measure the engines, and one format for what they find.

    workload ──► results ──► results.json, report.md, plots

A workload is a package with a function that returns `Results`; the report and the plots read
nothing else. Needs `ebbtide[bench]`, and works from an installed wheel.
"""
