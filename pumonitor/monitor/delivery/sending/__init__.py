"""Messages of the outbox, sent by a thread per destination, through outages."""
