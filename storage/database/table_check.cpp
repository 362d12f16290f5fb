#include "storage/database/table_check.hpp"

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

rocksdb::Status read_in_full(const std::filesystem::path& table,
                             rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  rocksdb::SstFileReader reader{options};
  auto status = reader.Open(table.string());
  return status.ok() ? reader.VerifyChecksum() : status;
}

} // namespace

std::optional<std::string>
find_damaged_table(const std::filesystem::path& directory, rocksdb::Env* env) {
  std::vector<std::filesystem::path> tables;
  std::error_code failed;
  for (std::filesystem::directory_iterator i{directory, failed}, end;
       !failed && i != end; i.increment(failed))
    if (i->path().extension() == ".sst")
      tables.push_back(i->path());
  std::sort(tables.begin(), tables.end());
  for (const auto& table : tables)
    if (auto status = read_in_full(table, env); !status.ok())
      return table.filename().string() + ": " + status.ToString();
  return std::nullopt;
}

} // namespace troupe
