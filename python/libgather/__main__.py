# SPDX-License-Identifier: MIT
#
# __main__.py: `python -m libgather` is the command `gather`.
"""The command `gather`, if its folder is not on the PATH."""

from libgather.command import main

if __name__ == "__main__":
    main()
