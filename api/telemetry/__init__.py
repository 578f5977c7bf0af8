"""What the process tells about itself: metrics, traces, log lines."""
