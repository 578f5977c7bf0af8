"""What is published, served to stores: the read-only half of the OCI distribution API."""
