"""`turngate schema`."""

from __future__ import annotations

import json

import click

__all__ = ["schema_command"]


@click.command("schema")
def schema_command() -> int:
    """Print the JSON Schema of everything that turngate reads and writes, with units and meanings."""
    from turngate.graphs.config import RunConfig
    from turngate.traces.analysis.run import RunSummary
    from turngate.traces.records import SCHEMA_VERSION, TABLES
    from turngate.traces.run_folder import RunInfo

    schema = {
        "schema_version": SCHEMA_VERSION,
        "config": RunConfig.model_json_schema(),
        "run.json": RunInfo.model_json_schema(),
        "ledger": {table: model.model_json_schema() for table, (model, _) in TABLES.items()},
        "summary": RunSummary.model_json_schema(),
    }
    click.echo(json.dumps(schema, indent=2))
    return 0
