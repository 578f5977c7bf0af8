"""What is published, packed: an OCI artifact for each overlay and cluster, an archive to carry."""
