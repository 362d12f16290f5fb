#pragma once

#include <boost/test/framework.hpp>
#include <boost/test/output/compiler_log_formatter.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_unit.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/test/unit_test_log.hpp>
#include <boost/test/unit_test_parameters.hpp>

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

namespace troupe::test {

/// Names each suite as it begins, so that even who is killed tells where, and
/// ends a program that hangs in one case, by its name. ctest would end it
/// without a word.
class watch : public boost::unit_test::test_observer {
public:
  /// Seconds for one case, above what the longest needs on a busy machine.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr unsigned patience = 900;
#else
  static constexpr unsigned patience = 240;
#endif

  watch() {
    std::signal(SIGALRM, &give_up);
  }

  void test_unit_start(const boost::unit_test::test_unit& unit) override {
    current_ = unit.full_name();
    if (unit.p_type == boost::unit_test::TUT_SUITE) {
      std::cout << unit.p_name.get() << std::endl;
      return;
    }
    std::snprintf(last_words_.data(), last_words_.size(),
                  "\nhangs in %s for more than %u s\n",
                  unit.full_name().c_str(), patience);
    ::alarm(patience);
  }

  void test_unit_finish(const boost::unit_test::test_unit&,
                        unsigned long) override {
    current_.clear();
    ::alarm(0);
  }

  /// What fails is told by its full name first, so that a line of a log says
  /// where it belongs, and can be looked for.
  class named_first : public boost::unit_test::output::compiler_log_formatter {
    void print_prefix(std::ostream& out, boost::unit_test::const_string file,
                      std::size_t line) override {
      if (!current_.empty())
        out << current_ << ": ";
      compiler_log_formatter::print_prefix(out, file, line);
    }
  };

  void test_start(boost::unit_test::counter_t,
                  boost::unit_test::test_unit_id) override {
    using namespace boost::unit_test;
    if (runtime_config::get<output_format>(runtime_config::btrt_log_format)
        == OF_CLF)
      unit_test_log.set_formatter(new named_first);
  }

  // After Boost.Test's own observers, which write the log.
  int priority() override {
    return 10;
  }

private:
  static void give_up(int) {
    // Whether it could be written or not, this is the end.
    if (::write(STDERR_FILENO, last_words_.data(),
                std::strlen(last_words_.data()))
        < 0)
      ::_exit(96);
    ::_exit(97);
  }

  static inline std::array<char, 512> last_words_{};
  static inline std::string current_; // suite and case
};

/// Boost.Test's main with a watch over it.
inline int watched_main(boost::unit_test::init_unit_test_func init, int argc,
                        char** argv) {
  watch over;
  boost::unit_test::framework::register_observer(over);
  return boost::unit_test::unit_test_main(init, argc, argv);
}

} // namespace troupe::test
