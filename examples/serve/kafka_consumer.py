"""Learn from a topic exactly once: the model file holds the offsets up to which it has learned.

    python kafka_consumer.py localhost:9092 labelled-rows model.oco

Messages are JSON: {"features": {...}, "label": ...}. Kafka's own record of what was committed is not used. If the
process is killed, the next one loads the model, seeks to the offsets inside it, and goes on bit-identically.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from ocoboost import OnlineBoostClassifier
from ocoboost.saving.model import read_model, write_model

SAVE_EVERY = 30.0  # seconds


def consume(brokers: str, topic: str, path: Path, *, most_rows: int | None = None, make: Any = None) -> Any:
    """Learn until nothing more comes for a while or enough was learned; returns the model."""
    if path.exists():
        model, offsets = read_model(path)
    else:
        model, offsets = (make or (lambda: OnlineBoostClassifier(seed=1)))(), {}
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "unused", "enable.auto.commit": False})
    partitions = sorted(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
    consumer.assign([TopicPartition(topic, number, offsets.get(str(number), 0)) for number in partitions])
    saved_at, n_rows = time.monotonic(), 0
    while most_rows is None or n_rows < most_rows:
        messages = [one for one in consumer.consume(64, timeout=5.0) if one.error() is None]
        if not messages:
            break
        rows = [json.loads(message.value()) for message in messages]
        model.learn_many([row["features"] for row in rows], [row["label"] for row in rows])
        offsets |= {str(message.partition()): message.offset() + 1 for message in messages}
        n_rows += len(messages)
        if time.monotonic() - saved_at > SAVE_EVERY:
            write_model(model, path, offsets)  # atomic: the model and the offsets, or neither
            saved_at = time.monotonic()
    consumer.close()
    write_model(model, path, offsets)
    return model


if __name__ == "__main__":
    consume(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
