"""A proof that a torch installation trains: a stand-alone program, standard library and torch only.

``python training_smoke --device mps --dtype float16`` prints one JSON event a line (``start``, ``stage``, ``step``,
``measure``, ``result``) on stdout and nothing else. A supervisor that never imports torch runs every stage in a
process of its own with a deadline, so a crash or a hang of torch is a result like any other.

Nothing is imported here, so that importing the package costs nothing and cannot fail.
"""
