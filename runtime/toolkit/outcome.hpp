#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::toolkit {

/// A picture for a model.
struct picture {
  std::string mime; // "image/png"
  std::string base64;
};

/// What a model gets for a call. A program that fails is no failure of its
/// call: its text says how it ended.
struct outcome {
  std::string text;
  /// The call could not do what was asked: the text says what to do next.
  bool failed = false;
  std::vector<picture> pictures{};
  /// Of a tool that answers with data: a JSON object, which `text` is as well.
  std::string data{};
};

inline outcome refusal(std::string text) {
  return {.text = std::move(text), .failed = true};
}

} // namespace troupe::toolkit
