"""`python -m core.cli`: the same as `mixdesk`."""

import sys

from core.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
