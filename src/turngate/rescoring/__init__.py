"""Scores what is there already: runs, studies, folders of images, manifests. Adds rows, never changes any."""
