#include "app/cli/global_options.hpp"

namespace troupe {

namespace {

using word_list = std::vector<std::string>;

std::vector<const CLI::App*> commands_of(const CLI::App* app) {
  return app->get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* command_named(const CLI::App* at, const std::string& word) {
  for (auto one : commands_of(at))
    if (one->check_name(word))
      return one;
  return nullptr;
}

/// The option that the first command beneath `at` knows by this name.
const CLI::Option* option_beneath(const CLI::App* at, const std::string& name) {
  for (auto one : commands_of(at)) {
    if (auto known = one->get_option_no_throw(name))
      return known;
    if (auto known = option_beneath(one, name))
      return known;
  }
  return nullptr;
}

/// Reads until the command is complete, or a word says that it never will be.
class reading {
public:
  reading(const CLI::App& app, word_list words)
      : at_{&app}, words_{std::move(words)} {}

  word_list run() {
    while (next_ < words_.size() && !commands_of(at_).empty())
      if (!(is_option() ? take_option() : take_command()))
        break;
    // Without a command, that is what there is to complain about.
    if (commands_of(at_).empty())
      taken_.insert(taken_.end(), early_.begin(), early_.end());
    words_.erase(words_.begin(),
                 words_.begin() + static_cast<std::ptrdiff_t>(next_));
    taken_.insert(taken_.end(), words_.begin(), words_.end());
    return std::move(taken_);
  }

private:
  bool is_option() const {
    return words_[next_].starts_with('-') && words_[next_] != "--";
  }

  bool take_command() {
    auto inner = command_named(at_, words_[next_]);
    if (!inner)
      return false;
    at_ = inner;
    taken_.push_back(std::move(words_[next_++]));
    return true;
  }

  bool take_option() {
    auto word = words_[next_];
    auto equals = word.find('=');
    auto name = word.substr(0, equals);
    if (at_->get_option_no_throw(name)) { // --help of the group itself
      taken_.push_back(std::move(words_[next_++]));
      return true;
    }
    auto option = option_beneath(at_, name);
    if (!option || !name.starts_with("--"))
      return false;
    ++next_;
    auto wants_value = option->get_items_expected_max() > 0;
    if (wants_value && equals == std::string::npos && next_ < words_.size())
      word += "=" + words_[next_++];
    early_.push_back(std::move(word));
    return true;
  }

  const CLI::App* at_;
  word_list words_;
  std::size_t next_ = 0;
  word_list taken_, early_;
};

} // namespace

word_list options_behind_command(const CLI::App& app, word_list words) {
  return reading{app, std::move(words)}.run();
}

} // namespace troupe
