// Seldom changing, often included: compiled once for tests that speak HTTP.
#pragma once

#include "net/http/precompiled.hpp"
#include "tests/support/precompiled.hpp"
