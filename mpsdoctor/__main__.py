"""`python -m mpsdoctor`."""

from mpsdoctor.cli import main

if __name__ == "__main__":
    main()
