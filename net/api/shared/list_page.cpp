#include "net/api/shared/list_page.hpp"

#include "runtime/json/writer.hpp"

namespace troupe::net {

std::optional<page_request> page_of(exchange& ex, std::string_view list) {
  query_reader query{ex.in().query};
  auto page = read_page(query, ex.who().organization, list);
  if (auto bad = query.finish()) {
    ex.fail(*bad);
    return std::nullopt;
  }
  return page;
}

void answer_items(exchange& ex, std::string_view list, std::string_view items,
                  std::string_view next) {
  json::object_writer out;
  out.raw("items", items)
    .text_or_null("next", make_cursor(ex.who().organization, list, next));
  ex.answer_json(out.finish());
}

} // namespace troupe::net
