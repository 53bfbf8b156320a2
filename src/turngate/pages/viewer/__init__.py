"""The local viewer: folders of runs and studies in the browser, live, for labelling and for review."""
