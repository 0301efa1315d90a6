"""The texts of the measured parts of README.md and Docs/Benchmarks.md, kind by kind."""
