"""Remote model providers: one layer that retries, typed failures, prices. Used by HTTP editors and judges alike."""
