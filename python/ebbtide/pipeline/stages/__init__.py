"""What executors do to a stream before it is reasoned over."""
