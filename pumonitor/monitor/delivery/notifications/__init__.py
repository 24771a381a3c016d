"""Alerts for people: chat, mail and paging, webhooks, Alertmanager; their words and pictures."""
