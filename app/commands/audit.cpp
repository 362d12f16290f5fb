#include "app/assembly/options_from_settings.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/session_command.hpp"
#include "app/cli/table.hpp"
#include "storage/maintenance/audit_verifier.hpp"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <thread>

namespace troupe {

namespace {

// What a person wants to see first, and how often to look for more.
constexpr std::size_t usual_count = 20;
constexpr std::size_t most_at_once = 1'000; // as the server answers
constexpr std::chrono::milliseconds look_again{1'000};

struct verify_words {
  std::string organization; // "": all of them
  bool as_json = false;
};

// -- verify -------------------------------------------------------------------

void tell(const organization_id& who, const audit_store::summary& found,
          bool as_json) {
  if (as_json) {
    json::object o;
    o["organization"] = who.str();
    o["first"] = found.first;
    o["last"] = found.last;
    o["hash"] = found.hash;
    std::cout << json::to_text(o) << "\n";
  } else if (found.last == 0) {
    std::cout << who.str() << ": nothing recorded\n";
  } else {
    std::cout << who.str() << ": entries " << found.first << " to "
              << found.last << " are whole, the last is " << found.hash << "\n";
  }
}

/// Every chain is walked, also behind a broken one.
int verify(settings_options& from, const verify_words& how) {
  auto loaded = from.load();
  if (!loaded)
    return print_error(loaded.error());
  auto found = examine_audit(store_options_from(loaded->values),
                             organization_id{how.organization});
  if (!found && found.error().code == ec::not_found)
    return print_error(found.error().text
                       + "; set the engine's data directory with --data-dir");
  if (!found)
    return print_error(found.error());
  if (found->beside_engine)
    std::cerr << "troupe: the engine is running; checking what it had written "
                 "a moment ago\n";
  for (const auto& [who, chain] : found->chains)
    if (chain)
      tell(who, *chain, how.as_json);
    else
      print_error(who.str() + ": " + chain.error().text);
  return found->whole() ? exit_ok : exit_ours;
}

// -- tail ---------------------------------------------------------------------

struct tail_words {
  std::size_t count = usual_count;
  bool follow = false;
  bool as_json = false;
};

/// Lines that come one by one cannot wait for the widest: these are usual.
constexpr std::size_t width_of_number = 6;
constexpr std::size_t width_of_event = 22;

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text + "  ";
}

/// What happened in front, then everything that is known about it.
std::string line_of(const json::value& entry) {
  const auto& what = entry.at("details");
  auto event = cell(what, "event") == "change" ? cell(what, "change")
                                               : cell(what, "event");
  auto line = padded(cell(entry, "sequence"), width_of_number)
    + cell(entry, "at") + "  " + padded(event, width_of_event);
  for (const auto& member : what.as_object())
    if (member.key() != "event" && member.key() != "change")
      line += std::string{member.key()} + "=" + cell(what, member.key()) + " ";
  line.pop_back();
  return one_line(std::move(line), std::string::npos);
}

void tell(const json::value& entry, bool as_json) {
  std::cout << (as_json ? json::to_text(entry) : line_of(entry)) << "\n";
}

volatile std::sig_atomic_t told_to_stop = 0;

/// Prints what is newer than `seen`.
result<void> show(api_client& engine, const tail_words& how, std::size_t count,
                  std::uint64_t& seen) {
  auto page = engine.call(api_client::verb::get,
                          "/v1/audit?last=" + std::to_string(count));
  if (!page)
    return page.error();
  for (const auto& item : page->at("items").as_array()) {
    auto number = item.at("sequence").to_number<std::uint64_t>();
    if (number <= seen)
      continue;
    if (seen > 0 && number > seen + 1)
      std::cerr << "troupe: " << number - seen - 1
                << " entries were skipped because they arrived too fast\n";
    tell(item, how.as_json);
    seen = number;
  }
  std::cout.flush();
  return {};
}

result<int> tail(const tail_words& how, api_client& engine) {
  std::uint64_t seen = 0;
  if (auto shown = show(engine, how, how.count, seen); !shown)
    return shown.error();
  if (how.follow)
    std::signal(SIGINT, [](int) { told_to_stop = 1; });
  while (how.follow && !told_to_stop && std::cout) {
    std::this_thread::sleep_for(look_again);
    if (auto shown = show(engine, how, most_at_once, seen); !shown)
      return shown.error();
  }
  return exit_ok;
}

} // namespace

void add_audit_command(CLI::App& app, invocation& call) {
  auto audit = app.add_subcommand("audit", "Show and verify the audit log");

  auto [shown, said] = add_session_command<tail_words>(
    audit, call, "tail", "Print the newest audit log entries, oldest first",
    tail);
  shown->add_option("-n,--count", said->count, "How many")
    ->check(CLI::Range(std::size_t{1}, most_at_once));
  shown->add_flag("-f,--follow", said->follow,
                  "Print new entries as they are written");

  auto how = std::make_shared<verify_words>();
  auto checked
    = audit->add_subcommand("verify",
                            "Verify the hash chains and report the first entry "
                            "that was changed; works while the engine runs");
  checked->add_option("--org", how->organization, "Only this organization");
  checked->add_flag("--json", how->as_json, "Print JSON lines");
  auto from = add_settings_options(*checked);
  call.on(checked, [how, from] { return verify(*from, *how); });
}

} // namespace troupe
