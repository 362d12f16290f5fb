#include "net/mcp/service.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/base/random.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace troupe::net::mcp {

namespace {

std::string random_text() {
  std::array<std::uint8_t, 32> bytes;
  random_bytes(bytes);
  return {bytes.begin(), bytes.end()};
}

std::string name_of(const caller& who) {
  return who.organization.str() + "/" + who.key.str();
}

} // namespace

struct caller_counts::counts {
  std::mutex mutex;
  std::size_t all = 0;
  std::map<std::string, std::size_t> by_caller;

  /// What holds a place.
  struct ticket {
    std::shared_ptr<counts> of;
    std::string caller;

    ~ticket() {
      if (!of)
        return;
      std::lock_guard lock{of->mutex};
      --of->all;
      const auto own = of->by_caller.find(caller);
      if (own != of->by_caller.end() && --own->second == 0)
        of->by_caller.erase(own);
    }
  };
};

caller_counts::caller_counts() : counts_{std::make_shared<counts>()} {}

std::shared_ptr<void> caller_counts::enter(const caller& who,
                                           std::size_t most_of_caller,
                                           std::size_t most) {
  auto held = std::make_shared<counts::ticket>();
  {
    std::lock_guard lock{counts_->mutex};
    auto name = name_of(who);
    const auto known = counts_->by_caller.find(name);
    const auto own = known == counts_->by_caller.end() ? 0 : known->second;
    if (own >= most_of_caller || counts_->all >= most)
      return nullptr;
    ++counts_->by_caller[name];
    ++counts_->all;
    held->caller = std::move(name);
    held->of = counts_;
  }
  return held;
}

service::service(engine& c, mcp_options o)
    : core{c}, options{o}, tools{o.sandboxes, o.rules},
      sessions{o.sessions, o.session_idle}, secret_{random_text()} {}

std::string service::seal(const caller& who, std::string_view place) const {
  const auto digest
    = sha256_joined({secret_, name_of(who), "/", place, "/", secret_});
  return hex(digest).substr(0, 32);
}

std::string service::cursor_for(const caller& who, std::size_t place) const {
  auto text = std::to_string(place);
  return text + "." + seal(who, text);
}

std::optional<std::size_t> service::place_of(const caller& who,
                                             std::string_view cursor) const {
  const auto dot = cursor.find('.');
  const auto place = cursor.substr(0, dot);
  std::size_t number = 0;
  const auto end
    = std::from_chars(place.data(), place.data() + place.size(), number);
  if (dot == cursor.npos || end.ec != std::errc{}
      || end.ptr != place.data() + place.size()
      || !equal_in_constant_time(cursor.substr(dot + 1), seal(who, place)))
    return std::nullopt;
  return number;
}

} // namespace troupe::net::mcp
