// Seldom changing, often included: compiled once per room.
#pragma once

#include "runtime/base/precompiled.hpp"

#include <rocksdb/db.h>
