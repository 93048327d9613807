"""The figures of the four papers, drawn from the JSON of the benchmarks alone; `make figures` makes their page."""
