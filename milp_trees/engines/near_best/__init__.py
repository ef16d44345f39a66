"""All trees whose value is close to the best one."""
