"""Boosters on samples, with scikit-learn's protocol: Algorithms 2 and 5, and the game behind them (Algorithm 3)."""
