"""`pytest --hypothesis-profile=thorough tests/properties` tries each property on many more rows."""

from hypothesis import settings

settings.register_profile("thorough", max_examples=200)
