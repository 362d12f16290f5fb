#pragma once

#include "net/api/shared/request_body.hpp"
#include "net/server/exchange.hpp"

#include <string>

namespace troupe::net {

/// The page that a request asks for, of a list without filters of its own. A
/// mistake is answered.
std::optional<page_request> page_of(exchange& ex, std::string_view list);

/// Answers with one page: `items`, an array, and where the next one begins, ""
/// for nowhere.
void answer_items(exchange& ex, std::string_view list, std::string_view items,
                  std::string_view next);

/// Answers with the first items from `i` on that are wanted. `place_of` says
/// where one stands in the list, `text_of` is its JSON.
template <class Iterator, class End, class PlaceOf, class TextOf, class Wanted>
void answer_page(exchange& ex, const page_request& page, std::string_view list,
                 Iterator i, End end, PlaceOf place_of, TextOf text_of,
                 Wanted is_wanted) {
  std::string items{"["};
  std::string last, next;
  for (std::size_t n = 0; i != end; ++i) {
    if (!is_wanted(*i))
      continue;
    if (n++ == page.limit) {
      next = std::move(last);
      break;
    }
    items.append(n == 1 ? "" : ",").append(text_of(*i));
    last = place_of(*i);
  }
  answer_items(ex, list, items += ']', next);
}

template <class Iterator, class End, class PlaceOf, class TextOf>
void answer_page(exchange& ex, const page_request& page, std::string_view list,
                 Iterator i, End end, PlaceOf place_of, TextOf text_of) {
  answer_page(ex, page, list, std::move(i), std::move(end), place_of, text_of,
              [](const auto&) { return true; });
}

} // namespace troupe::net
