"""Where changes come from: the API's subscription, or the engine of the same process."""
