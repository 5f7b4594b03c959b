"""Pipelines with real outside parts: brokers of Kafka and MQTT, and a standalone Spark cluster."""
