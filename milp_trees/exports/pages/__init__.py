"""Pages that show a study: one HTML file without anything from the network."""
