#pragma once

#include "runtime/json/reader.hpp"
#include "runtime/model/ids.hpp"

#include <string>
#include <string_view>

/// What the codecs of several types share. Private to this folder.
namespace troupe::codec {

/// Puts the fields of an error about a part below the pointer of that part.
inline error moved_below(std::string_view pointer, error e) {
  for (auto& f : e.fields)
    f.pointer = std::string{pointer} + f.pointer;
  if (!e.fields.empty()) {
    auto& f = e.fields.front();
    e.text = bad_field(f.pointer, f.reason, f.hint).text;
  }
  return e;
}

/// The value of a parser's result, or its complaints under `name`.
template <class T>
T value_or_complain(json::reader& in, std::string_view name, result<T> parsed) {
  if (parsed)
    return std::move(*parsed);
  in.absorb(moved_below(in.pointer_to(name), parsed.error()));
  return T{};
}

/// An id out of foreign hands: the form is checked.
template <class Id>
Id checked_id(json::reader& in, std::string_view name) {
  auto text = in.text(name, {.max = 128});
  return text ? value_or_complain(in, name, Id::parse(*text)) : Id{};
}

/// An id out of our own store.
template <class Id>
Id stored_id(json::reader& in, std::string_view name) {
  return Id{in.text(name, {.max = 256}).value_or("")};
}

inline void put(json::object& o, std::string_view name,
                const std::string& text) {
  if (!text.empty())
    o[name] = text;
}

inline json::array texts(const std::vector<std::string>& list) {
  json::array out;
  for (auto& item : list)
    out.push_back(json::value(item));
  return out;
}

/// A list of short texts; anything else is complained about.
std::vector<std::string> read_texts(json::reader& in, std::string_view name,
                                    std::size_t most, std::size_t longest);

} // namespace troupe::codec
