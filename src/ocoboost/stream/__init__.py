"""Files and pipes as streams of rows, and the loop that predicts each row before it learns it."""
