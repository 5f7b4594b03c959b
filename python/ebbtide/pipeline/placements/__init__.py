"""Where the reasoner lives: in the driver, in shards, or as DataFrames."""
