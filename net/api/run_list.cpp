// Runs, page by page: what became of each, without what it said. A value or an
// output may be large, and a page has a thousand of them.
#include "net/api/routes.hpp"
#include "net/api/shared/list_page.hpp"
#include "net/api/shared/request_body.hpp"
#include "net/api/shared/run_json.hpp"

#include <algorithm>
#include <span>

namespace troupe::net {

namespace {

constexpr std::string_view list_name = "runs";
// Records come with their results: so many are in memory at once.
constexpr std::size_t read_at_once = 25;
// A filter that fits nothing ends its page here, with a cursor to go on.
constexpr std::size_t most_looked_at = 1'000;

struct run_filter {
  std::optional<std::string> phase;
  std::optional<std::string> status;
  std::optional<std::string> tool;
  std::vector<std::pair<std::string, std::string>> labels;

  bool fits(const run_record& r) const {
    if (phase && *phase != to_string(r.phase))
      return false;
    if (status && (!r.result || *status != status_of(*r.result)))
      return false;
    if (tool && *tool != r.tool_name)
      return false;
    return std::all_of(labels.begin(), labels.end(), [&](const auto& wanted) {
      auto i = r.labels.find(wanted.first);
      return i != r.labels.end() && i->second == wanted.second;
    });
  }
};

std::optional<std::string>
read_one_of(query_reader& query, std::string_view name,
            std::span<const std::string_view> known) {
  auto text = query.text(name);
  if (!text || std::find(known.begin(), known.end(), *text) != known.end())
    return text;
  std::string all;
  for (auto one : known)
    all.append(all.empty() ? "one of " : ", ").append(one);
  query.complain(name, "is not one of the possible values", std::move(all));
  return std::nullopt;
}

run_filter read_filter(query_reader& query) {
  run_filter out;
  static constexpr std::string_view phases[]
    = {"queued", "preparing", "running", "ended"};
  out.phase = read_one_of(query, "phase", phases);
  out.status = read_one_of(query, "status", status_words);
  out.tool = query.text("tool");
  for (const auto& text : query.texts("label")) {
    auto equals = text.find('=');
    if (equals == std::string::npos)
      query.complain("label", "has no value", "label=name%3Dvalue");
    else
      out.labels.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

/// One page on its way: a few records at a time, until it is full.
class run_page : public std::enable_shared_from_this<run_page> {
public:
  run_page(engine& core, exchange_ptr ex, run_filter filter, std::size_t limit)
      : core_{core}, ex_{std::move(ex)}, filter_{std::move(filter)}, limit_{
                                                                       limit} {}

  void go_on(std::string after) {
    auto some = std::min(read_at_once, limit_ - count_);
    core_.list_runs(
      ex_->who(), std::move(after), some,
      [self = shared_from_this()](result<page<run_record>> found) {
        if (found)
          self->add(std::move(*found));
        else
          self->ex_->fail(found.error());
      });
  }

private:
  void add(page<run_record> found) {
    looked_at_ += found.items.size();
    for (const auto& r : found.items)
      if (filter_.fits(r))
        items_.append(count_++ == 0 ? "" : ",").append(summary_of(r));
    bool full = count_ == limit_ || looked_at_ >= most_looked_at;
    if (!full && !found.next.empty()) {
      go_on(std::move(found.next));
      return;
    }
    answer_items(*ex_, list_name, items_ += ']', found.next);
  }

  engine& core_;
  exchange_ptr ex_;
  const run_filter filter_;
  const std::size_t limit_;
  std::string items_{"["};
  std::size_t count_ = 0;
  std::size_t looked_at_ = 0;
};

void list(engine& core, const exchange_ptr& ex) {
  query_reader query{ex->in().query};
  auto page = read_page(query, ex->who().organization, list_name);
  auto filter = read_filter(query);
  if (auto bad = query.finish()) {
    ex->fail(*bad);
    return;
  }
  std::make_shared<run_page>(core, ex, std::move(filter), page.limit)
    ->go_on(std::move(page.after));
}

} // namespace

void add_run_list(router& routes, engine& core) {
  routes.add(
    method::get, "/v1/runs", [&core](exchange_ptr ex) { list(core, ex); },
    listing(scope::run));
}

} // namespace troupe::net
