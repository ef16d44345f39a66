"""Decision sets: what a leaf may choose when decisions are many or have structure; an oracle finds
the cheapest for a vector of costs.
"""
