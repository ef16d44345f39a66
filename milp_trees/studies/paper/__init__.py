"""Tables and figures of a study as a paper prints them."""
