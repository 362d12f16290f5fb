"""python3 sdk/python/tests [BINARY] [names of tests]: all tests of the client,
against the engine that was built."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
names = sys.argv[1:]
if names and os.path.isfile(names[0]):
    os.environ["TROUPE_BINARY"] = os.path.abspath(names.pop(0))
os.environ.pop("TROUPE_SERVER", None)
os.environ.pop("TROUPE_API_KEY", None)

import support  # noqa: E402

loader = unittest.TestLoader()
suite = loader.loadTestsFromNames(names) if names else loader.discover(HERE)
try:
    result = unittest.TextTestRunner(verbosity=1).run(suite)
finally:
    support.stop_engine()
sys.exit(not result.wasSuccessful())
