# SPDX-License-Identifier: MIT
#
# run_dask.py [--keep]: run_ray.py for Dask. script/plugins dask runs it.
"""The example for Dask, with its package."""

import sys

from run_ray import main

if __name__ == "__main__":
    sys.exit(main("dask"))
