"""`python -m mpsdoctor`."""

from mpsdoctor.start import main

if __name__ == "__main__":
    main()
