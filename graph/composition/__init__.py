"""How settings combine: layers in order, their merge, schemas, keys bound late."""
