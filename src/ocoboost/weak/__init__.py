"""The learners: what a booster asks of them, and how any River or scikit-learn classifier becomes N of them."""
