"""What is known about the world: torch releases, messages, variables, chips, Pythons, known-bad pairs, causes.

Each topic is one JSON file, whose rows name their sources, and one reader of the same name that answers typed
questions about it. Nothing here observes a machine, and nothing here imports another part of mpsdoctor.
Files are read on the first question, so importing a reader costs next to nothing.
"""
