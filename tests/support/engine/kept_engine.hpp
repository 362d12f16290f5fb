#pragma once

#include "actors/context/engine_options.hpp"
#include "storage/adapters/configuration_store.hpp"
#include "storage/adapters/journal.hpp"

#include <filesystem>

namespace troupe::test {

/// Has the engine keep what lasts below `directory`.
inline result<void> keep_in(const std::filesystem::path& directory,
                            engine_options& options) {
  store_options where;
  where.data_directory = directory;
  auto opened = open_store(where);
  if (!opened)
    return opened.error();
  auto kept = std::make_shared<store>(std::move(*opened));
  options.configuration = make_stored_configuration(kept);
  options.journal = make_stored_journal(std::move(kept));
  return {};
}

} // namespace troupe::test
