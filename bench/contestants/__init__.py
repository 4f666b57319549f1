"""One file an engine, each with `prepare(workload, form, setting)`: the workload made ready to be called."""
