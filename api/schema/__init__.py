"""The GraphQL schema: wire types beside the nouns of ``graph.model``, file by file."""
