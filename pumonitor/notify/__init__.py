"""Where alerts go: chat, mail and paging, webhooks, Alertmanager; their words and pictures."""
