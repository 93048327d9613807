"""Tables and documents: reading arrays, DataFrames and sparse counts into typed columns, and writing them back."""
