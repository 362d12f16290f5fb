#pragma once

#include "runtime/model/isolation.hpp"
#include "runtime/model/tool.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

/// A hostile tool's questions, asked from inside of a run. Every row has a
/// positive twin: the same question where the answer is another one, or a test
/// that sees only refusals could be refused for any reason.
namespace troupe::test {

/// Something done to a path or a process that Python, Node and the shell can
/// all do. The answer is OK or the name of an errno.
enum class deed {
  read,    // opens and reads a byte
  list,    // of a directory
  write,   // opens for writing, makes it if need be
  remove,  // a file
  make,    // a directory
  link,    // makes a hard link to it in /tmp
  rename,  // it, to itself with another ending
  widen,   // chmod 0777
  signal0, // asks for the process, without harm
};

struct path_row {
  const char* name;
  const char* rule; // of docs/reference/rules.md
  deed what;
  /// @host@: a directory of the host with a file `marker` that is not shown;
  /// @engine@: the pid of the engine.
  const char* target;
  const char* inside; // the answer; "|" between several
  /// Where the same deed succeeds: "outside", of isolation, or a path inside.
  const char* twin;
};
std::span<const path_row> path_rows();

struct call_row {
  const char* name;
  const char* rule;
  const char* call;   // Python
  const char* inside; // the answer
  /// What the kernel says without isolation, to root: past its check for
  /// rights at least. "": this kernel may not have it at all.
  const char* outside;
};
std::span<const call_row> call_rows();

/// The sources that ask, as tools called `f` that return {name: answer}; for
/// the shell a line that prints a name and an answer per line.
struct question {
  std::string name;
  deed what;
  std::string target;
};
std::string ask_in(language lang, const std::vector<question>& all);
std::string ask_calls(std::span<const call_row> rows, bool outside);

} // namespace troupe::test
