// Seldom changing, often included: compiled once for tests of actors.
#pragma once

#include "actors/caf/precompiled.hpp"
#include "net/http/precompiled.hpp"
#include "tests/support/precompiled.hpp"
