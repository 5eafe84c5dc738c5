"""A proof that a torch installation trains: a stand-alone program, standard library and torch only.

``python training_smoke --device mps --dtype float16`` prints one JSON event a line on stdout and nothing else. A
supervisor that never imports torch runs every stage in a process of its own with a deadline, so a crash or a hang of
torch is a result like any other. Exit codes: 0 passed, 1 failed, 2 usage, 3 nothing decided, 130 interrupted.

Events (all have ``event`` and ``t``, seconds since the start):

* ``start``: device, dtype, seed, quick, stages, python, context.
* ``stage``: stage, state ``begun`` with deadline_s (the stage's process is ended then), or ``ended`` with outcome,
  cause, detail, seconds.
* ``step``: progress within a stage (network, on, step, of, loss, scale; operator; case).
* ``measure``: one finding: an operator's outcome, a network's numbers, a size's times.
* ``result``, always the last: device, dtype, torch, outcome (pass, fail, unknown), stages, speed. A stage has stage,
  outcome (pass, fail, skip, crash, stalled), cause, detail, seconds, problems [{check, subject, text, cause}], and
  what belongs to it: operators (numerics), networks (train), in_training and in_operators (fallback), context (speed).

A cause is a slug of the vocabulary of causes where the words of an error or a release fact prove it, else null.
``--context`` takes what the caller knows: low_power_mode, thermal, battery, swap (they explain a
slow result) and virtual_machine (which explains an MPS failure that has no cause of its own).

Nothing is imported here, so that importing the package costs nothing and cannot fail.
"""
