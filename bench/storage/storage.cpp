// What the store costs beside what it is made of: reads from the catalog, and
// sealed variables beside raw RocksDB and raw AES-GCM of the same sizes.
#include "bench/bench.hpp"
#include "storage/database/key_codec.hpp"
#include "storage/database/rocksdb_options.hpp"
#include "storage/maintenance/store.hpp"

#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace troupe::bench {

namespace {

constexpr std::size_t rounds = 15;
constexpr std::size_t variables = 200;
constexpr int writes_per_round = 40;   // each waits for the disk
constexpr int reads_per_round = 4'000; // none does

template <class T>
T must(result<T> r) {
  if (!r)
    throw std::runtime_error(to_string(r.error()));
  return std::move(*r);
}
void must(const result<void>& r) {
  if (!r)
    throw std::runtime_error(to_string(r.error()));
}

class scratch {
public:
  scratch() {
    // Beside the build, not in /tmp, which may be memory.
    auto pattern = std::string{"troupe-bench-XXXXXX"};
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::runtime_error("mkdtemp failed");
    path = std::filesystem::absolute(pattern);
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

// RocksDB and Crypto++ alone, doing the same work by hand.
class raw_store {
public:
  explicit raw_store(const std::filesystem::path& directory) {
    auto settings = make_settings({}, rocksdb::Env::Default());
    rocksdb::Options options{settings.db, settings.columns[0]};
    rocksdb::DB* opened = nullptr;
    auto status = rocksdb::DB::Open(options, directory.string(), &opened);
    if (!status.ok())
      throw std::runtime_error(status.ToString());
    db_.reset(opened);
    const std::array<CryptoPP::byte, 32> key{7};
    seal_.SetKeyWithIV(key.data(), key.size(), iv_.data(), iv_.size());
    open_.SetKeyWithIV(key.data(), key.size(), iv_.data(), iv_.size());
  }

  void write(const std::string& key, const std::string& plain) {
    must(system_random()({iv_.data(), iv_.size()}));
    std::string value(12 + plain.size() + 16, '\0');
    std::copy(iv_.begin(), iv_.end(), value.begin());
    auto* out = reinterpret_cast<CryptoPP::byte*>(value.data());
    seal_.EncryptAndAuthenticate(
      out + 12, out + 12 + plain.size(), 16, iv_.data(), 12, nullptr, 0,
      reinterpret_cast<const CryptoPP::byte*>(plain.data()), plain.size());
    rocksdb::WriteBatch all;
    all.Put(key, value);
    rocksdb::WriteOptions how;
    how.sync = true;
    if (!db_->Write(how, &all).ok())
      throw std::runtime_error("raw write failed");
  }

  std::string read(const std::string& key) { return open(stored(key)); }
  std::string open(const std::string& value) {
    std::string plain(value.size() - 28, '\0');
    const auto* in = reinterpret_cast<const CryptoPP::byte*>(value.data());
    if (!open_.DecryptAndVerify(reinterpret_cast<CryptoPP::byte*>(plain.data()),
                                in + 12 + plain.size(), 16, in, 12, nullptr, 0,
                                in + 12, plain.size()))
      throw std::runtime_error("raw open failed");
    return plain;
  }
  std::string stored(const std::string& key) {
    std::string value;
    if (!db_->Get({}, key, &value).ok())
      throw std::runtime_error("raw read failed");
    return value;
  }

private:
  std::unique_ptr<rocksdb::DB> db_;
  std::array<CryptoPP::byte, 12> iv_{1};
  CryptoPP::GCM<CryptoPP::AES>::Encryption seal_;
  CryptoPP::GCM<CryptoPP::AES>::Decryption open_;
};

struct setup {
  scratch place;
  store kept;
  author who{organization_id{"org-bench"}, default_user()};
  config_id config;
  std::vector<variable_id> ids;
  std::unique_ptr<raw_store> raw;
  std::uint64_t counter = 0;

  setup() {
    store_options options;
    options.data_directory = place.path / "data";
    options.master.lookup = [](const std::string&) { return std::nullopt; };
    kept = must(open_store(options));
    config = must(kept.catalog->apply(who, put_config{backend_kind::local, {}},
                                      timestamp{}))
               .config->id;
    raw = std::make_unique<raw_store>(place.path / "raw");
  }

  std::string text(std::size_t bytes) {
    auto s = std::to_string(++counter);
    s.resize(bytes, 'x');
    return s;
  }
  static std::string name(std::size_t i) { return "V" + std::to_string(i); }

  void put(std::size_t i, std::size_t bytes) {
    auto reply = must(kept.catalog->apply(
      who, put_variable{config, name(i), secret{text(bytes)}, {}},
      timestamp{}));
    if (ids.size() <= i)
      ids.push_back(reply.variable->about.id);
  }
  void fill(std::size_t bytes) {
    for (std::size_t i = 0; i < variables; ++i) {
      put(i, bytes);
      raw->write(raw_key(i), text(bytes));
    }
  }
  // As long as ours, so that both compare the same keys.
  std::string raw_key(std::size_t i) const {
    return key_codec::encode(who.organization, {config.str(), name(i)});
  }
};

void add_side(report& r, const std::string& name, double seconds, int count) {
  r.add(name, seconds / count * 1e6, "us");
}

/// As a dispatcher reads it: each has its own look at the newest picture. One
/// thread per core does what one actor does.
void measure_catalog(setup& s, report& r) {
  constexpr int count = 200'000;
  const auto& newest = s.kept.catalog->newest();
  const auto read = [&] {
    snapshot<catalog>::cached config;
    for (int i = 0; i < count; ++i) {
      const auto* org = config.of(newest)->find(s.who.organization);
      keep(org->configs.find(s.config)->second->revision);
    }
  };
  std::vector<double> per_second;
  for (std::size_t round = 0; round < rounds; ++round) {
    auto took = seconds([&] {
      std::vector<std::jthread> cores;
      for (auto n = std::thread::hardware_concurrency(); n > 0; --n)
        cores.emplace_back(read);
    });
    per_second.push_back(count / took);
  }
  r.at_least("storage.config_read.per_second_and_core", median(per_second),
             "1/s", 1e6);
}

void measure_values(setup& s, report& r, std::size_t bytes) {
  auto size = std::to_string(bytes);
  s.fill(bytes);
  std::size_t at = 0;
  auto writes = interleave(rounds,
                           {[&] {
                              for (int i = 0; i < writes_per_round; ++i)
                                s.put(at++ % variables, bytes);
                            },
                            [&] {
                              for (int i = 0; i < writes_per_round; ++i) {
                                auto n = at++ % variables;
                                s.raw->write(s.raw_key(n), s.text(bytes));
                              }
                            }});
  auto name = "storage.sealed_write_" + size + "b";
  add_side(r, name + ".ours", median(writes[0]), writes_per_round);
  add_side(r, name + ".raw", median(writes[1]), writes_per_round);
  r.at_most(name + ".ratio", median_ratio(writes[0], writes[1]), "x", 1.3);

  // As a run does it: the sealed value is in the catalog, and is opened at the
  // last moment.
  auto picture = s.kept.catalog->current();
  const auto* org = picture->find(s.who.organization);
  const auto sealed = s.raw->stored(s.raw_key(0));
  auto reads = interleave(rounds,
                          {[&] {
                             for (int i = 0; i < reads_per_round; ++i) {
                               const auto& v = *org->variables_by_id.at(
                                 s.ids[i % variables]);
                               keep(must(s.kept.seals->open(v)));
                             }
                           },
                           [&] {
                             for (int i = 0; i < reads_per_round; ++i)
                               keep(s.raw->read(s.raw_key(i % variables)));
                           },
                           [&] {
                             for (int i = 0; i < reads_per_round; ++i)
                               keep(s.raw->open(sealed));
                           }});
  name = "storage.unsealed_read_" + size + "b";
  add_side(r, name + ".ours", median(reads[0]), reads_per_round);
  add_side(r, name + ".raw", median(reads[1]), reads_per_round);
  add_side(r, name + ".raw_cipher_alone", median(reads[2]), reads_per_round);
  r.at_most(name + ".ratio", median_ratio(reads[0], reads[1]), "x", 1.3);
  r.add(name + ".ratio_to_cipher_alone", median_ratio(reads[0], reads[2]), "x");
}

// A record that is read from the disk's side as well, as at a start.
void measure_stored_reads(setup& s, report& r) {
  variable_store variables_on_disk{s.kept.db};
  constexpr std::size_t bytes = 1'024;
  s.fill(bytes);
  auto reads = interleave(
    rounds,
    {[&] {
       for (int i = 0; i < reads_per_round; ++i) {
         auto v = must(variables_on_disk.find(
           s.who.organization, {s.config.str(), s.ids[i % variables].str()}));
         keep(must(s.kept.seals->open(*v)));
       }
     },
     [&] {
       for (int i = 0; i < reads_per_round; ++i)
         keep(s.raw->read(s.raw_key(i % variables)));
     }});
  add_side(r, "storage.stored_read_1024b.ours", median(reads[0]),
           reads_per_round);
  add_side(r, "storage.stored_read_1024b.raw", median(reads[1]),
           reads_per_round);
  r.add("storage.stored_read_1024b.ratio", median_ratio(reads[0], reads[1]),
        "x");
}

void measure_runs(setup& s, report& r) {
  constexpr int count = 200;
  auto record = [&](std::int64_t n) {
    run_record one;
    one.id = run_id::make();
    one.organization = s.who.organization;
    one.phase = run_phase::ended;
    one.created_at = timestamp{std::chrono::microseconds{n}};
    run_result outcome;
    outcome.id = one.id;
    outcome.stdout_text = "hello\n";
    one.result = std::make_shared<const run_result>(outcome);
    return one;
  };
  std::int64_t n = 0;
  auto sides
    = interleave(rounds,
                 {[&] {
                    for (int i = 0; i < count; ++i)
                      must(s.kept.runs->put(record(++n), durability::buffered));
                  },
                  [&] {
                    std::vector<run_record> all;
                    for (int i = 0; i < count; ++i)
                      all.push_back(record(++n));
                    must(s.kept.runs->put(all));
                  }});
  add_side(r, "storage.run_record.buffered", median(sides[0]), count);
  add_side(r, "storage.run_record.batch_of_200_synced", median(sides[1]),
           count);
}

void run(report& r) {
  setup s;
  r.note("raw: RocksDB with the same options and Crypto++'s AES-256-GCM with a "
         "kept key, no associated data; both sides in turn, medians of "
         + std::to_string(rounds) + " rounds");
  measure_catalog(s, r);
  for (std::size_t bytes : {32, 1'024, 16'384})
    measure_values(s, r, bytes);
  measure_stored_reads(s, r);
  measure_runs(s, r);
}

const area registered{"storage", "sealed values, configuration, records", run};

} // namespace

} // namespace troupe::bench
