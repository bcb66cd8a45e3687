"""Weak learners, for a booster as its `learner` or by themselves.

hoeffding/    compiled Hoeffding trees, River's answers         mondrian/   compiled online Mondrian trees, as in AMF
experts/      exponential weights over classes of hypotheses: learners with a regret bound
foreign.py    any River classifier, any scikit-learn classifier with `partial_fit`

Each folder has its classifier (River's protocol), its ensemble (what a cascade asks for), its kernels and its state
(what goes into a model file, and the checks of what comes out of one) side by side. alone.py and trees.py are what the
classifiers share, nominal.py numbers that are read as categories, checked.py the checks.
"""
