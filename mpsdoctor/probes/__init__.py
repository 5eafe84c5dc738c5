"""How facts are got: commands, files, recordings, tickets. Only process.py starts processes."""
