// Seldom changing, often included: compiled once for the tests of two rooms.
#pragma once

#include "runtime/base/precompiled.hpp"

#include <boost/asio.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>
