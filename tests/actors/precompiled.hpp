// Seldom changing, often included: compiled once for tests of actors.
#pragma once

#include "actors/precompiled.hpp"
#include "net/precompiled.hpp"
#include "tests/support/precompiled.hpp"
