#include "tests/support/providers/fake_provider.hpp"

#include "tests/support/http/tls_faces.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace troupe::test {

namespace {

std::string unchunk(std::string_view body) {
  std::string out;
  for (;;) {
    auto end = body.find("\r\n");
    std::size_t size = 0;
    if (end == body.npos)
      return out;
    std::from_chars(body.data(), body.data() + end, size, 16);
    if (size == 0)
      return out;
    out += body.substr(end + 2, size);
    body.remove_prefix(std::min(body.size(), end + 2 + size + 2));
  }
}

std::string lower(std::string_view s) {
  std::string out{s};
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return out;
}

} // namespace

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int value = 0;
    if (text[i] == '%' && i + 2 < text.size()
        && std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16)
             .ptr
          == text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

stand_request parse_request(const std::string& bytes) {
  stand_request r;
  std::string_view rest = bytes;
  auto line = rest.substr(0, rest.find("\r\n"));
  auto blank = line.find(' ');
  r.method = line.substr(0, blank);
  auto target = line.substr(blank + 1);
  target = target.substr(0, target.find(' '));
  r.target = target;
  auto question = target.find('?');
  r.path = percent_decode(target.substr(0, question));
  if (question != target.npos) {
    auto query = target.substr(question + 1);
    while (!query.empty()) {
      auto pair = query.substr(0, query.find('&'));
      auto equal = pair.find('=');
      auto value = equal == pair.npos ? "" : pair.substr(equal + 1);
      r.query[percent_decode(pair.substr(0, equal))] = percent_decode(value);
      query.remove_prefix(std::min(query.size(), pair.size() + 1));
    }
  }
  auto end = rest.find("\r\n\r\n");
  auto first = line.size() + 2;
  auto head = rest.substr(first, end - std::min(end, first));
  while (!head.empty()) {
    auto field = head.substr(0, head.find("\r\n"));
    auto colon = field.find(':');
    auto value = colon == field.npos ? "" : field.substr(colon + 1);
    while (value.starts_with(' '))
      value.remove_prefix(1);
    r.headers[lower(field.substr(0, colon))] = value;
    head.remove_prefix(std::min(head.size(), field.size() + 2));
  }
  r.body = rest.substr(end + 4);
  if (lower(r.header("transfer-encoding")) == "chunked")
    r.body = unchunk(r.body);
  return r;
}

// -- replies -----------------------------------------------------------------

void stand_reply::send(int status, std::string_view body,
                       std::map<std::string, std::string> headers) {
  answered_ = true;
  auto text = "HTTP/1.1 " + std::to_string(status) + " Said\r\n";
  for (const auto& [name, value] : headers)
    text += name + ": " + value + "\r\n";
  if (status != 204)
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  peer_.write(text + "\r\n" + std::string{body});
}

void stand_reply::begin(int status, std::string_view content_type) {
  answered_ = true;
  peer_.write("HTTP/1.1 " + std::to_string(status)
              + " Said\r\nContent-Type: " + std::string{content_type}
              + "\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool stand_reply::piece(std::string_view bytes) {
  char size[20];
  auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
  return peer_.write(std::string(size, end) + "\r\n" + std::string{bytes}
                     + "\r\n");
}

void stand_reply::end() {
  peer_.write("0\r\n\r\n");
}

// -- the server --------------------------------------------------------------

stand_in::stand_in(handler h, const tls_faces* faces)
    : handler_{std::move(h)}, faces_{faces},
      server_{[this](peer& p, int) { serve(p); },
              faces ? faces->context(tls_face::right) : nullptr} {}

std::string stand_in::url() const {
  return (faces_ ? "https://127.0.0.1:" : "http://127.0.0.1:")
    + std::to_string(port());
}

void stand_in::show(tls_face which) {
  server_.show(faces_->context(which), faces_->manner(which));
}

void stand_in::add_fault(fault f) {
  std::lock_guard guard{mutex_};
  faults_.push_back(std::move(f));
}

std::vector<std::string> stand_in::seen() const {
  std::vector<std::string> out;
  for (const auto& r : requests())
    out.push_back(r.method + " " + r.path);
  return out;
}

std::vector<stand_request> stand_in::requests() const {
  std::lock_guard guard{mutex_};
  return seen_;
}

std::size_t stand_in::count(std::string_view what) const {
  auto all = seen();
  return static_cast<std::size_t>(
    std::count_if(all.begin(), all.end(),
                  [&](const auto& s) { return s.starts_with(what); }));
}

void stand_in::serve(peer& p) {
  for (auto bytes = p.read_request(); !bytes.empty();
       bytes = p.read_request()) {
    auto request = parse_request(bytes);
    {
      auto head = request;
      head.body.resize(std::min(head.body.size(), max_kept_bytes));
      std::lock_guard guard{mutex_};
      seen_.push_back(std::move(head));
    }
    if (play_fault(request, p))
      continue;
    stand_reply reply{p};
    handler_(request, reply);
    if (!reply.answered())
      reply.send(404, "{}");
  }
}

namespace {

/// Somebody whose words are lost on the way.
class mute final : public peer {
public:
  explicit mute(peer& real) : real_{real} {}
  bool write(std::string_view) override { return true; }
  void reset() override { real_.reset(); }
  int socket() override { return real_.socket(); }

protected:
  std::size_t read_some(char*, std::size_t) override { return 0; }

private:
  peer& real_;
};

} // namespace

bool stand_in::play_fault(const stand_request& r, peer& p) {
  fault f;
  {
    std::lock_guard guard{mutex_};
    auto i = std::find_if(faults_.begin(), faults_.end(), [&](const fault& x) {
      return r.path.starts_with(x.path);
    });
    if (i == faults_.end())
      return false;
    f = *i;
    faults_.erase(i);
  }
  stand_reply reply{p};
  switch (f.what) {
  case fault::kind::status:
    reply.send(f.code, R"({"code":0,"message":"out of order"})", f.headers);
    break;
  case fault::kind::reset_before:
    p.reset();
    break;
  case fault::kind::reset_after: {
    mute quiet{p};
    stand_reply unheard{quiet};
    handler_(r, unheard);
    p.reset();
    break;
  }
  case fault::kind::garbage:
    reply.send(200, "<html>Please log in</html>");
    break;
  case fault::kind::endless:
    p.write(f.bytes.empty() ? "HTTP/1.1 200 OK\r\n" : f.bytes);
    while (p.write(f.more.empty() ? "X-More: x\r\n" : f.more)) {
    }
    break;
  case fault::kind::trickle:
    reply.begin(200, "application/json");
    while (reply.piece(" ")) {
    }
    break;
  case fault::kind::silent:
    while (!p.read_request().empty()) {
    }
    break;
  case fault::kind::flood:
    reply.begin(200, "application/json");
    while (reply.piece(std::string(256u << 10, 'x'))) {
    }
    break;
  case fault::kind::raw:
    p.write(f.bytes);
    ::shutdown(p.socket(), SHUT_WR);
    break;
  }
  return true;
}

// -- really running what one is sent -----------------------------------------

namespace {

struct pipe_pair {
  int read = -1;
  int write = -1;
  pipe_pair() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) == 0) {
      read = fds[0];
      write = fds[1];
    }
  }
  ~pipe_pair() {
    close_read();
    close_write();
  }
  void close_read() { close(read); }
  void close_write() { close(write); }

private:
  static void close(int& fd) {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& t : texts)
    out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

// Where distributions put programs: what people have before it in their PATH,
// as shims that choose a version, takes longer than the program.
constexpr const char* places[] = {"/usr/local/bin/", "/usr/bin/", "/bin/"};

std::string found(const std::string& program) {
  if (program.find('/') == program.npos)
    for (const auto* place : places)
      if (auto path = place + program; ::access(path.c_str(), X_OK) == 0)
        return path;
  return program;
}

pid_t spawn(const program_run& what, pipe_pair& in, pipe_pair& out,
            pipe_pair& err) {
  auto args = what.argv;
  std::vector<std::string> env{"PATH=/usr/local/bin:/usr/bin:/bin"};
  for (const auto& [name, value] : what.env)
    env.push_back(name + "=" + value);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  ::posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  if (::posix_spawn(&child, found(args[0]).c_str(), &actions, &attributes,
                    pointers(args).data(), pointers(env).data())
      != 0)
    child = -1;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return child;
}

void pump(const program_run& what, pid_t child, int out, int err) {
  pollfd fds[3]{
    {out, POLLIN, 0}, {err, POLLIN, 0}, {what.watched_socket, POLLRDHUP, 0}};
  auto open = 2;
  while (open > 0) {
    ::poll(fds, 3, -1);
    if (fds[2].revents) { // nobody listens any more: as the real one, end it
      ::kill(-child, SIGKILL);
      fds[2].fd = -1;
    }
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || !fds[i].revents)
        continue;
      char piece[4096];
      auto n = ::read(fds[i].fd, piece, sizeof piece);
      if (n > 0) {
        what.sink(i == 1, {piece, static_cast<std::size_t>(n)});
      } else {
        fds[i].fd = -1;
        --open;
      }
    }
  }
}

} // namespace

int run_program(const program_run& what) {
  ::signal(SIGPIPE, SIG_IGN); // it may die before it has read its input
  pipe_pair in, out, err;
  auto child = spawn(what, in, out, err);
  in.close_read();
  out.close_write();
  err.close_write();
  if (child < 0)
    return 127;
  if (what.begun)
    what.begun(child);
  // Programs of ours read all of it before they print: no deadlock.
  if (!what.input.empty())
    (void)!::write(in.write, what.input.data(), what.input.size());
  in.close_write();
  pump(what, child, out.read, err.read);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::kill(-child, SIGKILL); // whatever it left behind
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace troupe::test
