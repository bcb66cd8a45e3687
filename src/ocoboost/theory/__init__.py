"""Theory beside a run: weak-learning conditions, bounds, and an account of the regret.

    record       what the players saw of every learner, row by row
    replay       these games played again from the record: what every learner was taught
    classes      classes to compare with, on a grid of quantiles
    meters       the account: where the regret of a booster comes from
    reports      what an account shows
    conditions   what the paper requires of weak learners
    checks       is this learner a weak learner?
    bounds       what the theorems promise

Nothing here changes what a booster does.
"""
