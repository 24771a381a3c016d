"""One file with scores and labels to a ScoreTable."""
