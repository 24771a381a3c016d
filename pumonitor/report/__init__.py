"""Pictures and the report: one Evaluation in, charts, sentences or a self-contained page out."""
