"""Weak learners, for a booster as its `learner` or on their own.

hoeffding/    compiled Hoeffding trees, River's answers         mondrian/   compiled online Mondrian trees, as in AMF
experts/      exponential weights over classes of hypotheses: learners with a regret bound
foreign.py    any River classifier, any scikit-learn classifier with `partial_fit`

Each folder holds a learner's classifier (River's protocol), its ensemble (what a cascade asks for), its kernels and its
state (to a model file, and back with every field checked) side by side; layout.py is how trees lie in memory. alone.py
and trees.py are what the classifiers share, nominal.py numbers that are read as categories, checked.py the checks, and
unsaved.py what learners raise that no model file can hold.
"""
