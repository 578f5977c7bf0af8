"""The process around the app: sockets to listen on, deadlines, probes."""
