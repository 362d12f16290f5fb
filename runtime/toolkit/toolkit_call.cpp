#include "runtime/toolkit/toolkit_call.hpp"

#include "runtime/toolkit/text_budget.hpp"

#include <algorithm>

namespace troupe::toolkit {

namespace {

constexpr std::size_t longest_path = 4'096;
constexpr std::string_view renewed
  = "[new sandbox: the one before has ended, and its files are gone]\n";

/// Without empty parts, `.` and `..`.
std::string normal(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const auto part = path.substr(0, slash);
    if (part == "..") {
      if (!parts.empty())
        parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    if (slash == path.npos)
      break;
    path.remove_prefix(slash + 1);
  }
  std::string out;
  for (auto part : parts)
    out.append("/").append(part);
  return out.empty() ? "/" : out;
}

} // namespace

std::string workspace_at(backend_kind place) {
  switch (place) {
  case backend_kind::daytona:
    return "/home/daytona";
  case backend_kind::aio:
    return "/home/gem";
  case backend_kind::modal:
    return "/root";
  default:
    return "/home/user";
  }
}

toolkit_call::toolkit_call(sandbox_engine& engine, sessions& all, caller who,
                           const listed_tool& tool, json::object arguments,
                           binding where, call_rules rules, call_hooks hooks,
                           done then)
    : engine_{engine}, all_{all}, who_{std::move(who)}, tool_{tool},
      arguments_{std::move(arguments)}, where_{std::move(where)}, rules_{rules},
      hooks_{std::make_shared<const call_hooks>(std::move(hooks))},
      then_{std::move(then)} {}

// -- the sandbox --------------------------------------------------------------

void toolkit_call::begin() {
  {
    std::lock_guard lock{mutex_};
    self_ = shared_from_this();
  }
  after(rules_.longest_wait + std::chrono::seconds{2},
        [weak = weak_from_this()] {
          if (auto self = weak.lock())
            self->refuse("The sandbox did not answer within 50 s. Try again; "
                         "if it goes on, sandbox_delete makes a fresh start.");
        });
  const auto named = text("session_id");
  if (named.empty()) {
    session_ = all_.of(who_.organization, where_.session);
    return find_sandbox();
  }
  if (!is_session_id(named))
    return refuse("There is no session " + cut_line(named).substr(0, 80)
                  + "; leave session_id out, or call sandbox_create.");
  where_ = {named, "the session that session_id names"};
  find_named();
}

/// The sandbox that the session has, or null.
void toolkit_call::ask_for_sandbox(
  std::function<void(sandbox_record_ptr)> then) {
  sandbox_filter which;
  which.session = where_.session;
  which.limit = 1;
  engine_.list(who_, std::move(which),
               or_fail<page<sandbox_record_ptr>>(
                 [then = std::move(then)](page<sandbox_record_ptr> found) {
                   then(found.items.empty() ? nullptr
                                            : std::move(found.items.front()));
                 }));
}

/// A session that a model names has to be there: it makes none.
void toolkit_call::find_named() {
  ask_for_sandbox([this](const sandbox_record_ptr& found) {
    if (!found)
      return refuse("There is no session " + where_.session
                    + ", or it has expired; leave session_id out, or call "
                      "sandbox_create.");
    session_ = all_.of(who_.organization, where_.session);
    find_sandbox();
  });
}

void toolkit_call::find_sandbox() {
  if (!tool_.entry.needs_sandbox)
    return look_for_sandbox();
  const auto known = session_->sandbox();
  if (known.empty())
    return make_sandbox();
  engine_.find(
    who_, known,
    [self = shared_from_this()](sandbox_result<sandbox_record_ptr> found) {
      if (found && (*found)->state == sandbox_state::running)
        self->enter(std::move(*found));
      else // it is paused, or it has ended
        self->make_sandbox();
    });
}

/// For what can do without one.
void toolkit_call::look_for_sandbox() {
  ask_for_sandbox([this](sandbox_record_ptr found) {
    if (found)
      enter(std::move(found));
    else
      tool_.entry.run(shared_from_this());
  });
}

void toolkit_call::make_sandbox() {
  sandbox_spec what;
  what.session = where_.session;
  what.timeout = rules_.longest_life;
  what.auto_resume = true;
  engine_.create(who_, std::move(what),
                 or_fail<sandbox_record_ptr>([this](sandbox_record_ptr made) {
                   if (session_->moved_to(made->id))
                     note_ = renewed;
                   enter(std::move(made));
                 }));
}

void toolkit_call::enter(sandbox_record_ptr record) {
  if (over())
    return;
  sandbox_ = record->id;
  workspace_ = workspace_at(record->place.kind());
  record_ = std::move(record);
  tool_.entry.run(shared_from_this());
}

// -- arguments ----------------------------------------------------------------

const json::value* toolkit_call::argument(std::string_view name) const {
  const auto* found = arguments_.if_contains(name);
  return found && !found->is_null() ? found : nullptr;
}

std::string toolkit_call::text(std::string_view name,
                               std::string_view otherwise) const {
  const auto* found = argument(name);
  return found && found->is_string() ? std::string{found->get_string()}
                                     : std::string{otherwise};
}

std::int64_t toolkit_call::integer(std::string_view name,
                                   std::int64_t otherwise) const {
  const auto* found = argument(name);
  return found && found->is_int64() ? found->get_int64() : otherwise;
}

bool toolkit_call::flag(std::string_view name) const {
  const auto* found = argument(name);
  return found && found->is_bool() && found->get_bool();
}

std::chrono::milliseconds toolkit_call::wait(std::int64_t usual) const {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
    std::chrono::steady_clock::now() - began_);
  const std::chrono::milliseconds wanted{integer("wait_ms", usual)};
  return std::clamp(
    wanted, std::chrono::milliseconds{0},
    std::max(rules_.longest_wait - passed, std::chrono::milliseconds{0}));
}

std::size_t toolkit_call::most_characters() const {
  return static_cast<std::size_t>(
    integer("max_chars", static_cast<std::int64_t>(rules_.characters)));
}

// -- paths --------------------------------------------------------------------

result<std::string> toolkit_call::inside(std::string_view said) const {
  if (said.empty() || said.size() > longest_path
      || said.find('\0') != said.npos)
    return troupe::fail(ec::invalid_request,
                        "A path has 1 to 4096 bytes, without NUL.");
  std::string full;
  if (said == "~" || said.starts_with("~/"))
    full = workspace_ + std::string{said.substr(1)};
  else if (said.front() == '/')
    full = said;
  else
    full = workspace_ + "/" + std::string{said};
  full = normal(full);
  if (auto fine = check_sandbox_path(full); !fine)
    return troupe::fail(ec::invalid_request,
                        "The path " + fine.error().text + ".");
  return full;
}

std::string toolkit_call::shown(std::string_view path) const {
  std::string_view rest = path;
  if (path == workspace_)
    return ".";
  if (path.starts_with(workspace_ + "/"))
    rest.remove_prefix(workspace_.size() + 1);
  return plain_text(rest);
}

// -- the end ------------------------------------------------------------------

void toolkit_call::answer(outcome what) {
  done told;
  std::function<void()> end; // these go when the lock is open again
  std::shared_ptr<const call_hooks> hooks;
  std::shared_ptr<toolkit_call> self;
  {
    std::lock_guard lock{mutex_};
    if (over_.exchange(true))
      return;
    told = std::exchange(then_, {});
    end = std::exchange(end_, {});
    hooks = std::exchange(hooks_, {});
    self = std::exchange(self_, {});
  }
  if (!note_.empty())
    what.text.insert(0, note_);
  if (told)
    told(std::move(what));
}

void toolkit_call::fail(const sandbox_error& why) {
  auto text = why.text.empty() ? std::string{to_string(why.code)} : why.text;
  for (const auto& field : why.fields) {
    text += text.ends_with('.') ? " " : ". ";
    text += field.pointer + " " + field.reason;
    if (!field.hint.empty())
      text += " (" + field.hint + ")";
  }
  if (why.problem == sandbox_problem::sandbox_ended)
    text += ". What ran in it is lost; the next call gets a new sandbox.";
  else if (why.code == ec::exhausted || why.code == ec::unavailable)
    text += ". Busy or out of reach: try again in a few seconds.";
  refuse(plain_text(text));
}

void toolkit_call::on_cancel(std::function<void()> end) {
  {
    std::lock_guard lock{mutex_};
    if (!cancelled_) {
      if (!over()) // else it would be kept, with all that it holds
        end_ = std::move(end);
      return;
    }
  }
  end();
}

void toolkit_call::cancel() {
  std::function<void()> end;
  done dropped;
  std::shared_ptr<const call_hooks> hooks;
  std::shared_ptr<toolkit_call> self;
  {
    std::lock_guard lock{mutex_};
    if (over_.exchange(true))
      return;
    cancelled_ = true;
    end = std::exchange(end_, {});
    dropped = std::exchange(then_, {});
    hooks = std::exchange(hooks_, {});
    self = std::exchange(self_, {});
  }
  if (end)
    end();
}

std::shared_ptr<const call_hooks> toolkit_call::hooks() const {
  std::lock_guard lock{mutex_};
  return hooks_;
}

bool toolkit_call::tells_progress() const {
  const auto all = hooks();
  return all && all->progress;
}

void toolkit_call::progress(std::string line) const {
  if (const auto all = hooks(); all && all->progress)
    all->progress(std::move(line));
}

void toolkit_call::after(std::chrono::milliseconds time,
                         std::function<void()> then) {
  if (const auto all = hooks(); all && all->after)
    all->after(time, std::move(then));
}

} // namespace troupe::toolkit
