"""What the numbers should be: weak-learning conditions, bounds, and an account of the regret of a run.

record       what the players saw of every learner, row by row
replay       the same games once more, from the record: what every learner was taught
meters       the account: where the regret of a booster comes from
conditions   is this learner a weak learner?
bounds       what the theorems promise
"""
