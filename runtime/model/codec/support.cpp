#include "runtime/model/codec/support.hpp"

namespace troupe::codec {

std::vector<std::string> read_texts(json::reader& in, std::string_view name,
                                    std::size_t most, std::size_t longest) {
  std::vector<std::string> out;
  auto* list = in.member_array(name);
  if (list == nullptr)
    return out;
  if (list->size() > most) {
    in.complain(name, "has more than " + std::to_string(most) + " items");
    return out;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto* s = (*list)[i].if_string();
    if (s == nullptr || s->size() > longest) {
      in.absorb(bad_field(json::child(in.pointer_to(name), i),
                          "expected a string of at most "
                            + std::to_string(longest) + " bytes"));
      return out;
    }
    out.emplace_back(s->data(), s->size());
  }
  return out;
}

} // namespace troupe::codec
