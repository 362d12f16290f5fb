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

import interface  # noqa: E402
import support  # noqa: E402

support.note_requests()
loader = unittest.TestLoader()
suite = loader.loadTestsFromNames(names) if names else loader.discover(HERE)
try:
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    good = result.wasSuccessful()
    # A part of the tests drives a part of the interface.
    missing = [] if names or not good else interface.not_driven(support.DRIVEN)
    for operation in missing:
        print("no test asks for", operation)
finally:
    support.stop_engine()
sys.exit(not good or bool(missing))
