"""A classifier on a stream: River's protocol, and the state behind it.

protocol.py   learn, predict, sample, watch a prequential run: what every classifier on streams here can do
state.py      all that one has learned, and how a block of rows goes in
turns.py      which threads may use it at a time
names.py      what others call our methods and parameters
"""
