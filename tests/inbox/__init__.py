"""The bundled workflow: reading, judging, deleting, reporting."""
