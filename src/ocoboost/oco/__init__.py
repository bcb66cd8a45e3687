"""The player: online convex optimization on the simplex and on the unit interval.

The booster turns every row of the stream into a small game of N moves. This package holds the domains, the linear
losses, the projection and the players; it knows nothing of streams or of weak learners.
"""
