"""SQL of warehouses, a file each: how they say what `Dialect` asks for."""
