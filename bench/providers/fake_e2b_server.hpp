#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace troupe::bench {

/// Answers everything with the same few bytes, over TLS, on a thread of its
/// own.
class tls_house {
public:
  tls_house(const std::string& certificate_pem, const std::string& key_pem);
  ~tls_house();
  std::uint16_t port() const;

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

/// As much of E2B as a run needs, over TLS, each answer after `latency`. In a
/// process of its own: neither its memory nor its CPU is counted as ours.
class far_e2b {
public:
  far_e2b(std::chrono::milliseconds latency, const std::string& certificate_pem,
          const std::string& key_pem);
  ~far_e2b();
  far_e2b(const far_e2b&) = delete;
  far_e2b& operator=(const far_e2b&) = delete;

  std::uint16_t port() const { return port_; }
  int created() const;
  int ended() const;

private:
  struct counts; // seen by both processes
  class server;

  counts* counts_ = nullptr;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

} // namespace troupe::bench
