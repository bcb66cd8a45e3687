"""What the numbers should be: weak-learning conditions, bounds, and an account of the regret of a run.

    record       what the players saw of every learner, row by row
    replay       the same games once more, from the record: what every learner was taught
    classes      classes to compare with, on a grid of quantiles
    meters       the account: where the regret of a booster comes from
    reports      what an account says
    conditions   what the paper asks of weak learners
    checks       is this learner a weak learner?
    bounds       what the theorems promise

Nothing here changes what a booster does.
"""
