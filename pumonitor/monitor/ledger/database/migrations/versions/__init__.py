"""One file per step, in the order of `down_revision`; a step that was released never changes."""
