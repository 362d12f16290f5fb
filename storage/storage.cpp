#include "runtime/error.hpp"
