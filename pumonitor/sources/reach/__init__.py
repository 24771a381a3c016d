"""Files wherever they are: paths, addresses, credentials, a connection that reads only them."""
