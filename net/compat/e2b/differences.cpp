// What a client can rely on, as a program reads it. The same list is in
// docs/guides/from-e2b.md.
#include "net/compat/e2b/facade.hpp"
#include "runtime/json/writer.hpp"

#include <array>

namespace troupe::net::e2b_facade {

namespace {

struct row {
  std::string_view feature;
  std::string_view served; // yes, partial or no
  std::string_view remark;
};

constexpr row rows[] = {
  {"sandboxes", "yes", "made, found, listed, renewed, killed"},
  {"pause", "partial",
   "processes stand still and stay in memory; they do not outlive this server, "
   "and a pause of files alone is refused"},
  {"snapshots", "partial", "files only; they do not outlive this server"},
  {"fork", "partial", "files only: processes are not copied"},
  {"templates", "partial",
   "base, code-interpreter-v1 and snapshots; building one is refused"},
  {"users", "partial", "one: user; root is refused"},
  {"processes", "partial",
   "what a slow reader has not read of the last 1 MiB of output is lost; "
   "signals go to what a process started as well"},
  {"pty", "yes", "terminals of up to 1,000 columns and rows"},
  {"files", "partial",
   "up to 64 MiB each; no quotes in names, no ranges, no metadata, no uploads "
   "in gzip"},
  {"watch", "partial", "events carry no entries"},
  {"signed URLs", "yes", "for files of sandboxes that clients have used"},
  {"code interpreter", "partial",
   "python, javascript, typescript and bash, in interpreters of this server's "
   "own that run as user; no charts of figures"},
  {"network rules", "partial",
   "allow lists, or nothing at all; no proxies, no rules about headers"},
  {"ports", "partial",
   "by the fields E2b-Sandbox-Id and E2b-Sandbox-Port; getHost() names a host "
   "that does not lead here"},
  {"volumes", "no", "refused"},
  {"secrets", "no", "refused"},
  {"events and webhooks", "no", "refused; /v1/sandboxes/ID/events has them"},
  {"isolation", "partial",
   "namespaces, a filter of system calls and limits over the host's kernel, "
   "not a machine of its own"},
};

std::string row_json(const row& r) {
  json::object_writer out;
  out.text("feature", r.feature)
    .text("served", r.served)
    .text("remark", r.remark);
  return out.finish();
}

void describe(facade& shared, const exchange_ptr& ex) {
  constexpr std::array<std::string_view, 8> tested
    = {"e2b (npm) 2.51.0",
       "e2b (npm) 2.45.0",
       "e2b (npm) 2.39.0",
       "e2b (npm) 2.14.0",
       "e2b (npm) 2.12.1",
       "e2b (npm) 2.7.0",
       "@e2b/code-interpreter (npm) 2.8.0",
       "@e2b/cli (npm) 2.19.0"};
  json::object_writer out;
  out.text("server", "Troupe " TROUPE_VERSION)
    .list("urls", shared.urls(),
          [&](const std::string& each) { out.text(each); })
    .text("envdVersion", envd_version)
    .list("clientsTested", tested,
          [&](std::string_view each) { out.text(each); })
    .raw("features", json::array_of(rows, row_json));
  ex->answer_json(out.finish());
}

} // namespace

void add_differences(control_routes& to) {
  to.add_open(method::get, "", describe);
}

} // namespace troupe::net::e2b_facade
