"""Notifications: chat, mail and paging, webhooks, Alertmanager; their texts and pictures."""
