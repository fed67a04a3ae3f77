"""`python -m holdfast`: the command `holdfast`, where its script is not on the path."""

import sys

from holdfast.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
