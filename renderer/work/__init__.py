"""The work itself: a source is followed, planned and published, for ever or once."""
