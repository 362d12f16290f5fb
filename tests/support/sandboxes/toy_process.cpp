#include "tests/support/sandboxes/toy_process.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace troupe::test {

namespace {

struct pipe_ends {
  int ours = -1;
  int theirs = -1;
};

pipe_ends make_pipe(bool we_read) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {};
  ::fcntl(ends[we_read ? 0 : 1], F_SETFL, O_NONBLOCK);
  return we_read ? pipe_ends{ends[0], ends[1]} : pipe_ends{ends[1], ends[0]};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& each : texts)
    all.push_back(each.data());
  all.push_back(nullptr);
  return all;
}

} // namespace

toy_process::toy_process(boost::asio::any_io_executor executor)
    : in_{executor}, out_{executor}, err_{executor}, pidfd_{executor} {}

toy_process::~toy_process() {
  if (pid_ > 0 && !reaped_) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

result<std::shared_ptr<toy_process>> toy_process::start(
  boost::asio::any_io_executor executor, const process_request& what,
  const std::filesystem::path& folder, bool open_input, process_events events) {
  auto made = std::make_shared<toy_process>(executor);
  auto in = make_pipe(false);
  auto out = make_pipe(true);
  auto err = make_pipe(true);
  auto failed = make_pipe(true); // says why exec failed
  auto argv = what.argv;
  std::vector<std::string> env{"PATH=/usr/local/bin:/usr/bin:/bin",
                               "HOME=" + folder.string()};
  for (const auto& [name, value] : what.env)
    env.push_back(name + "=" + value);
  auto arguments = pointers(argv);
  auto variables = pointers(env);
  const auto cwd = folder.string();
  const auto pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::dup2(in.theirs, 0);
    ::dup2(out.theirs, 1);
    ::dup2(err.theirs, 2);
    int why = ::chdir(cwd.c_str()) == 0 ? 0 : errno;
    if (why == 0) {
      ::execvpe(arguments[0], arguments.data(), variables.data());
      why = errno;
    }
    (void)!::write(failed.theirs, &why, sizeof why);
    ::_exit(127);
  }
  for (auto fd : {in.theirs, out.theirs, err.theirs, failed.theirs})
    ::close(fd);
  made->in_.assign(in.ours);
  made->out_.from.assign(out.ours);
  made->err_.from.assign(err.ours);
  made->pid_ = pid;
  int why = 0;
  ::fcntl(failed.ours, F_SETFL, 0);
  const auto told = ::read(failed.ours, &why, sizeof why);
  ::close(failed.ours);
  if (told > 0)
    return fail(ec::invalid_request,
                "cannot start " + what.argv.front() + ": "
                  + std::generic_category().message(why));
  made->events_ = std::move(events);
  made->pidfd_.assign(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  made->waiting_ = what.input;
  made->at_terminal_ = what.terminal.has_value();
  made->close_when_fed_ = !open_input;
  made->read(made->out_, output_stream::out);
  made->read(made->err_, output_stream::err);
  made->wait();
  made->feed();
  return made;
}

void toy_process::read(stream& which, output_stream name) {
  which.from.async_read_some(
    boost::asio::buffer(which.some),
    [self = shared_from_this(), &which, name](auto failed, std::size_t n) {
      if (failed) {
        which.open = false;
        self->publish_end();
        return;
      }
      if (self->events_.output)
        self->events_.output(name, {which.some.data(), n});
      self->read(which, name);
    });
}

void toy_process::feed() {
  if (feeding_)
    return;
  if (waiting_.empty()) {
    if (close_when_fed_ && in_.is_open())
      in_.close();
    return;
  }
  feeding_ = true;
  in_.async_wait(
    descriptor::wait_write, [self = shared_from_this()](auto failed) {
      self->feeding_ = false;
      if (failed || !self->in_.is_open())
        return;
      const auto n = ::write(self->in_.native_handle(), self->waiting_.data(),
                             self->waiting_.size());
      if (n < 0) {
        self->in_.close(); // it reads no more
        self->waiting_.clear();
        return;
      }
      self->waiting_.erase(0, static_cast<std::size_t>(n));
      self->feed();
    });
}

result<void> toy_process::write(std::string bytes) {
  if (!in_.is_open() || close_when_fed_)
    return fail(ec::conflict, "its standard input is closed");
  if (waiting_.size() > most_waiting)
    return fail(ec::exhausted, "it has 1 MiB to read already");
  waiting_ += bytes;
  feed();
  return {};
}

void toy_process::close_input() {
  close_when_fed_ = true;
  feed();
}

result<void> toy_process::signal(std::int32_t number) {
  if (reaped_)
    return fail(ec::conflict, "it has ended");
  ::kill(-pid_, number);
  return {};
}

result<void> toy_process::resize(terminal_size to) {
  if (!at_terminal_)
    return fail(ec::conflict, "it has no terminal");
  if (events_.output)
    events_.output(output_stream::out,
                   "now " + std::to_string(to.columns) + "x"
                     + std::to_string(to.rows) + "\n");
  return {};
}

void toy_process::wait() {
  pidfd_.async_wait(descriptor::wait_read,
                    [self = shared_from_this()](auto) { self->reap(); });
}

void toy_process::reap() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  ::kill(-pid_, SIGKILL); // what it has left behind holds our pipes
  end_.signaled = WIFSIGNALED(status);
  end_.signal = end_.signaled ? WTERMSIG(status) : 0;
  end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  publish_end();
}

void toy_process::publish_end() {
  if (!reaped_ || out_.open || err_.open || !events_.ended)
    return;
  auto events = std::exchange(events_, {});
  if (in_.is_open())
    in_.close();
  events.ended(end_);
}

} // namespace troupe::test
