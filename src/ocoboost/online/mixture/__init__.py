"""Members side by side on one stream, and what is made of their answers.

    members       boosters and a tree that live for the whole stream, trees of every age (``ages``), the nearest of the
                  latest rows (``neighbours``), and the last label
    blends        what is made of their answers, each in its own way: exponential weights that settle (``slow``) or
                  switch (``quick``), weighted products (``pools``), Bayes' rule over all of these (``bayes``), which is
                  reshaped before it is said (``reshaping``, ``sureness``), and weights that settle on any of these
                  (``steady``)
    tournament    weighs the labels that members and blends vote for, at every pace, with a bound on its regret

``blend`` takes a row through all of it, ``engine`` drives the members, ``bounds`` states what is guaranteed.
"""
