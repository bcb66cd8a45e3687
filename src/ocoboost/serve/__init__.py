"""A model as a service: predictions over HTTP, labels that arrive late, and nothing lost when the process dies.

    limits.py       how much of everything a service takes
    reading.py      JSON of a request into rows and labels, checked
    entries.py      rows, labels and what becomes of them, as the database keeps them
    database.py     SQLite: rows that wait for their labels, and the log of labels
    committing.py   one thread writes, and commits what many requests wait for at once
    served.py       a model with its position in the log and its scores, in one file
    plays.py        the same for a model that plays labels, and learns from right and wrong
    suspects.py     labels that look wrong
    keeper.py       one thread owns all models: it answers, and between answers learns the log in blocks
    memory.py       memory that is free, given back
    folder.py       what is in the folder of a service, and who may use it
    service.py      these together: what a request asks for, done in the right order
    tokens.py       who may do what
    measuring.py    rates and latencies
    openapi.py      the protocol, as a schema
    app.py          the protocol, over HTTP
    page.py         the page at `/`, which is page.html, and what a browser may do with it
    listening.py    the application behind a port
    feeding.py      a file sent to a service, with late labels

A label is acknowledged once it is in the log on disk. The models learn the log in order, and a model's file says up to
which number it has learned. So after a crash every model reads the log from there on, and because blocks may be cut
anywhere without changing a bit, it becomes the model that it would have been.
"""
