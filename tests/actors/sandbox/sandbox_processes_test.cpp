#include "tests/support/sandboxes/sandbox_fixture.hpp"

namespace troupe {

namespace {

using namespace std::chrono_literals;
using namespace test;
using problem = sandbox_problem;

std::string said(const sandbox_program_ptr& process,
                 output_stream which = output_stream::out) {
  return process->read(which, 0, 1u << 20).bytes;
}

/// Waits for a text as a reader does: told when there is more.
bool says(const sandbox_program_ptr& process, std::string_view text) {
  std::string heard;
  output_offsets at;
  while (heard.find(text) == heard.npos) {
    auto more = std::make_shared<std::promise<void>>();
    (void)process->when_more(at, [more] { more->set_value(); });
    if (more->get_future().wait_for(20s) != std::future_status::ready)
      return false;
    auto piece = process->read(output_stream::out, at.out, 1u << 20);
    at.out = piece.next();
    at.err = process->read(output_stream::err, at.err, 1u << 20).next();
    if (piece.bytes.empty() && process->record().ended())
      return false;
    heard += piece.bytes;
  }
  return true;
}

sandbox_result<void>
waited(const std::function<void(sandbox_handler<void>)>& call) {
  sandbox_box<void> box;
  call(box.handle());
  return box.get();
}

} // namespace

BOOST_AUTO_TEST_SUITE(sandbox_processes)

BOOST_AUTO_TEST_CASE(a_command_says_its_output_and_its_code) {
  sandbox_fixture house;
  const auto id = house.running();
  auto process = house.start(id, "echo out; echo err >&2; exit 3");
  BOOST_REQUIRE(process);
  const auto end = house.finish(*process);
  BOOST_TEST((end.reason == process_reason::exited));
  BOOST_TEST(end.exit_code == 3);
  BOOST_TEST(end.pid > 0);
  BOOST_TEST(said(*process) == "out\n");
  BOOST_TEST(said(*process, output_stream::err) == "err\n");
}

BOOST_AUTO_TEST_CASE(every_exit_code_arrives) {
  sandbox_fixture house;
  const auto id = house.running();
  for (int code : {0, 1, 2, 77, 127, 128, 255}) {
    auto process = house.start(id, "exit " + std::to_string(code));
    BOOST_REQUIRE(process);
    BOOST_TEST(house.finish(*process).exit_code == code);
  }
}

BOOST_AUTO_TEST_CASE(it_has_the_variables_of_its_sandbox_and_its_own) {
  sandbox_fixture house;
  sandbox_spec spec;
  spec.env.emplace("A", secret{"1"});
  spec.env.emplace("B", secret{"1"});
  const auto id = house.running(spec);
  process_spec what;
  what.command = "echo $A$B";
  what.env.emplace("B", secret{"2"});
  auto process = house.start(id, what);
  BOOST_REQUIRE(process);
  house.finish(*process);
  BOOST_TEST(said(*process) == "12\n");
}

BOOST_AUTO_TEST_CASE(files_of_one_process_are_there_for_the_next) {
  sandbox_fixture house;
  const auto id = house.running();
  house.finish(*house.start(id, "echo kept > tmp/file"));
  auto process = house.start(id, "cat tmp/file");
  house.finish(*process);
  BOOST_TEST(said(*process) == "kept\n");
}

BOOST_AUTO_TEST_CASE(input_that_is_open_is_written_and_closed) {
  sandbox_fixture house;
  const auto id = house.running();
  process_spec what;
  what.argv = {"cat"};
  what.input = "one\n";
  what.open_input = true;
  auto process = house.start(id, what);
  BOOST_REQUIRE(process);
  BOOST_TEST(says(*process, "one\n"));
  auto write = [&](auto done) { (*process)->write("two\n", done); };
  BOOST_TEST(waited(write).has_value());
  BOOST_TEST(says(*process, "two\n"));
  auto close = [&](auto done) { (*process)->close_input(done); };
  BOOST_TEST(waited(close).has_value());
  BOOST_TEST(house.finish(*process).exit_code == 0);
  BOOST_TEST((waited(write).error().problem == problem::process_ended));
}

BOOST_AUTO_TEST_CASE(one_with_a_terminal_is_resized) {
  sandbox_fixture house;
  const auto id = house.running();
  process_spec what;
  what.command = "read wait";
  what.open_input = true;
  const auto resized = [](const sandbox_program_ptr& p, terminal_size to) {
    return waited([&](auto done) { p->resize(to, done); });
  };
  auto without = house.start(id, what);
  BOOST_REQUIRE(without);
  BOOST_TEST((resized(*without, {}).error().code == ec::conflict));
  what.terminal = terminal_size{100, 30};
  auto with = house.start(id, what);
  BOOST_REQUIRE(with);
  BOOST_TEST(((*with)->record().terminal == terminal_size{100, 30}));
  BOOST_TEST(resized(*with, {120, 40}).has_value());
  BOOST_TEST(((*with)->record().terminal == terminal_size{120, 40}));
  BOOST_TEST(says(*with, "now 120x40"));
  for (auto& each : {*without, *with}) {
    auto close = [&](auto done) { each->close_input(done); };
    BOOST_TEST(waited(close).has_value());
    house.finish(each);
  }
  BOOST_TEST((resized(*with, {}).error().problem == problem::process_ended));
}

BOOST_AUTO_TEST_CASE(a_place_without_terminals_says_so) {
  sandbox_fixture house;
  house.toy.provider->habits.terminals = false;
  const auto id = house.running();
  process_spec what;
  what.command = "true";
  what.terminal = terminal_size{};
  auto refused = house.start(id, what);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().problem == problem::unsupported_here));
  BOOST_TEST(refused.error().text.find("terminal") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_signal_reaches_it) {
  sandbox_fixture house;
  const auto id = house.running();
  auto process = house.start(id, "echo up; exec sleep 1000");
  BOOST_REQUIRE(process);
  BOOST_TEST(says(*process, "up"));
  auto tell = [&](auto done) { (*process)->signal(15, done); };
  BOOST_TEST(waited(tell).has_value());
  const auto end = house.finish(*process);
  BOOST_TEST((end.reason == process_reason::signaled));
  BOOST_TEST(end.signal == 15);
  BOOST_TEST((waited(tell).error().problem == problem::process_ended));
}

BOOST_AUTO_TEST_CASE(its_time_ends_it_with_everything_that_it_started) {
  sandbox_fixture house;
  const auto id = house.running();
  process_spec what;
  what.command = "echo up; sleep 1000 & wait";
  what.timeout = 5s;
  auto process = house.start(id, what);
  BOOST_REQUIRE(process);
  BOOST_TEST(says(*process, "up"));
  house.step(5s);
  BOOST_TEST((house.finish(*process).reason == process_reason::timeout));
}

BOOST_AUTO_TEST_CASE(the_end_of_its_sandbox_is_its_own) {
  sandbox_fixture house;
  const auto id = house.running();
  auto process = house.start(id, "exec sleep 1000");
  BOOST_REQUIRE(process);
  BOOST_TEST(house.remove(id).has_value());
  BOOST_TEST((house.finish(*process).reason == process_reason::sandbox_ended));
  BOOST_TEST(
    (house.start(id, "true").error().problem == problem::sandbox_ended));
}

BOOST_AUTO_TEST_CASE(one_that_is_removed_is_killed_and_forgotten) {
  sandbox_fixture house;
  const auto id = house.running();
  auto process = house.start(id, "exec sleep 1000");
  BOOST_REQUIRE(process);
  const auto name = (*process)->record().id;
  auto remove = [&](auto done) {
    house.engine().remove_process(someone(), id, name, done);
  };
  BOOST_TEST(waited(remove).has_value());
  BOOST_TEST((house.finish(*process).reason == process_reason::killed));
  BOOST_TEST((waited(remove).error().code == ec::not_found));
}

BOOST_AUTO_TEST_CASE(only_so_many_run_at_once) {
  sandbox_rules rules;
  rules.processes = 2;
  sandbox_fixture house{rules};
  const auto id = house.running();
  auto first = house.start(id, "exec sleep 1000");
  BOOST_REQUIRE(first);
  BOOST_REQUIRE(house.start(id, "exec sleep 1000"));
  BOOST_TEST((house.start(id, "true").error().problem == problem::quota));
  auto kill = [&](auto done) { (*first)->signal(9, done); };
  BOOST_TEST(waited(kill).has_value());
  house.finish(*first);
  BOOST_TEST(house.start(id, "true").has_value());
}

BOOST_AUTO_TEST_CASE(those_that_ended_are_listed_until_newer_ones_push_them) {
  sandbox_rules rules;
  rules.ended_processes = 3;
  sandbox_fixture house{rules};
  const auto id = house.running();
  for (int i = 0; i < 10; ++i)
    house.finish(*house.start(id, "true"));
  auto count = [&] {
    sandbox_box<std::vector<sandbox_program_ptr>> box;
    house.engine().list_processes(someone(), id, box.handle());
    return box.get()->size();
  };
  BOOST_TEST(until([&] { return count() == 3; }));
  house.step(200s);
  BOOST_TEST(count() == 3u);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_an_error_and_no_process) {
  sandbox_fixture house;
  const auto id = house.running();
  process_spec what;
  what.argv = {"/no/such/program"};
  auto process = house.start(id, what);
  BOOST_REQUIRE(!process);
  BOOST_TEST(process.error().text.find("/no/such/program")
             != std::string::npos);
  sandbox_box<std::vector<sandbox_program_ptr>> box;
  house.engine().list_processes(someone(), id, box.handle());
  BOOST_TEST(box.get()->empty());
}

BOOST_AUTO_TEST_CASE(where_a_place_only_waits_a_process_goes_on_in_a_call) {
  sandbox_fixture house;
  house.toy.provider->habits.processes = false;
  const auto id = house.running();
  auto process = house.start(id, "echo up; sleep 1000 & wait");
  BOOST_REQUIRE(process);
  BOOST_TEST(says(*process, "up"));
  auto term = [&](auto done) { (*process)->signal(15, done); };
  BOOST_TEST((waited(term).error().problem == problem::unsupported_here));
  auto kill = [&](auto done) { (*process)->signal(9, done); };
  BOOST_TEST(waited(kill).has_value());
  BOOST_TEST((house.finish(*process).reason == process_reason::signaled));
  process_spec open;
  open.command = "cat";
  open.open_input = true;
  BOOST_TEST(
    (house.start(id, open).error().problem == problem::unsupported_here));
  BOOST_TEST(house.finish(*house.start(id, "exit 4")).exit_code == 4);
}

BOOST_AUTO_TEST_CASE(files_are_written_read_moved_and_removed) {
  sandbox_fixture house;
  const auto id = house.running();
  auto& engine = house.engine();
  auto write = [&](auto done) {
    engine.write_file(someone(), id, "/tmp/a/b", std::string{"x\0y", 3}, done);
  };
  BOOST_TEST(waited(write).has_value());
  auto read = [&](const std::string& path) {
    sandbox_box<std::string> box;
    engine.read_file(someone(), id, path, box.handle());
    return box.get();
  };
  BOOST_TEST((*read("/tmp/a/b") == std::string{"x\0y", 3}));
  auto move = [&](auto done) {
    engine.move_file(someone(), id, "/tmp/a/b", "/tmp/c", done);
  };
  BOOST_TEST(waited(move).has_value());
  BOOST_TEST((read("/tmp/a/b").error().code == ec::not_found));
  BOOST_TEST((read("tmp").error().code == ec::invalid_request));
  sandbox_box<std::vector<sandbox_entry>> list;
  engine.list_files(someone(), id, "/tmp", list.handle());
  BOOST_TEST(list.get()->size() == 2u);
  house.toy.provider->habits.files = false;
  BOOST_TEST((read("/tmp/c").error().problem == problem::unsupported_here));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace troupe
