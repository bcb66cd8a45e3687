"""The recipe for Kafka: the offsets are in the model file, so each message is learned once."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import ocoboost
from model_files import knowledge
from ocoboost.saving.model import read_model
from services import stream, trees

ROOT = Path(__file__).parents[2]
kafka = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")


@pytest.fixture
def recipe():
    path = ROOT / "examples" / "serve" / "kafka_consumer.py"
    spec = importlib.util.spec_from_file_location("kafka_consumer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_the_recipe(recipe):
    source = (ROOT / "examples" / "serve" / "kafka_consumer.py").read_text()
    body = source[source.index("def consume") : source.index("\n\nif __name__")].rstrip()
    assert body in (ROOT / "docs" / "serving.md").read_text()


def test_each_message_is_learned_once(recipe, tmp_path):
    """Against the mock cluster in confluent-kafka's wheel, which lives in the producer."""
    producer = kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored"})
    # The mock's address is in what the producer knows of its brokers.
    cluster = producer.list_topics("rows", timeout=10)
    broker = next(iter(cluster.brokers.values()))
    address = f"{broker.host}:{broker.port}"
    rows = stream(60)
    for row, label in rows:
        producer.produce("rows", json.dumps({"features": row, "label": label}), partition=0)
    producer.flush(10)
    path = tmp_path / "model.oco"
    recipe.consume(address, "rows", path, most_rows=20, make=trees)
    first = read_model(path)[1]
    assert 20 <= first["0"] < 60 or first["0"] == 60
    whole = recipe.consume(address, "rows", path)
    assert read_model(path)[1] == {"0": 60}
    offline = trees()
    offline.learn_many([row for row, _ in rows], [label for _, label in rows])
    assert knowledge(ocoboost.load(path)) == knowledge(offline) == knowledge(whole)
