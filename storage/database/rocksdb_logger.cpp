#include "storage/database/rocksdb_logger.hpp"

#include "runtime/base/log.hpp"

#include <cstdarg>
#include <cstdio>

namespace troupe {

namespace {

using rocksdb::InfoLogLevel;

class rocksdb_logger : public rocksdb::Logger {
public:
  rocksdb_logger() : Logger{InfoLogLevel::WARN_LEVEL} {}

  using Logger::Logv;
  void Logv(const char* format, va_list words) override {
    Logv(InfoLogLevel::WARN_LEVEL, format, words);
  }

  void Logv(InfoLogLevel how, const char* format, va_list words) override {
    if (how < GetInfoLogLevel() || how == InfoLogLevel::HEADER_LEVEL)
      return;
    char text[2048]; // what is longer is cut: a line, not a dump
    std::vsnprintf(text, sizeof(text), format, words);
    auto level = how == InfoLogLevel::WARN_LEVEL ? log::level::warning
                                                 : log::level::error;
    log::write(level, "rocksdb warning", {{"reason", text}});
  }
};

} // namespace

std::shared_ptr<rocksdb::Logger> make_rocks_log() {
  return std::make_shared<rocksdb_logger>();
}

} // namespace troupe
