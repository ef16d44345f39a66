"""The face for scikit-learn."""
