"""Scripts that the target interpreter runs by path. They import the standard library only, from Python 3.7 on."""
