#include "runtime/engine.hpp"
