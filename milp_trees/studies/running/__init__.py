"""Running a planned study: its folder, its workers, and the executors that start them."""
