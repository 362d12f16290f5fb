// Seldom changing, often included: compiled once per room.
#pragma once

#include "runtime/precompiled.hpp"

#include <rocksdb/db.h>
