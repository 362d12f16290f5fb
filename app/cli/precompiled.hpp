// Seldom changing, often included: compiled once per room.
#pragma once

#include "runtime/base/precompiled.hpp"

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include <CLI/CLI.hpp>

#include <iostream>
