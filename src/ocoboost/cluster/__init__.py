"""Online boosters and models by key on the workers of a Dask cluster; ``ocoboost.dask`` has the front doors.

actor       a stage on a worker
courier     carries blocks to one stage and on to the next; begins the stage again if its worker is lost
line        all couriers of a model: what ``online.staged`` sends blocks into
boosters    the front doors
"""
