"""How exact the class-prior estimators are, on two normals and on real tasks, and how fast."""
