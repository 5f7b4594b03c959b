"""Where streams come from: streaming DataFrames of lines."""
