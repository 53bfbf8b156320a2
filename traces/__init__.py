"""Records of what happened: run folder, ledger, image store, telemetry, exports, analysis and report."""
