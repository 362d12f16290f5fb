// DNS packets from tools and from nameservers.
#include "runtime/local/egress/dns_message.hpp"

#include <cstdlib>

using namespace troupe::network;

namespace {

void demand(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  std::string_view packet{reinterpret_cast<const char*>(data), size};
  // As an answer to the question that it holds itself.
  std::string question{packet};
  if (question.size() > 12) {
    question[2] = question[3] = 0;
    question[4] = 0;
    question[5] = 1;
  }
  auto q = parse_dns_query(question);
  if (!q)
    return 0;
  demand(q->question_end <= question.size());
  auto refusal = refuse_dns_query(question, *q, dns_code::no_such_name);
  auto read = parse_dns_answer(refusal, *q);
  demand(read.has_value());
  demand(read->code == dns_code::no_such_name && read->addresses.empty());
  (void)parse_dns_answer(packet, *q);
  auto roomy = with_room(question, 4096);
  demand(parse_dns_query(roomy)->question_end == q->question_end);
  if (roomy != question)
    demand(without_room(roomy).size() == question.size()
           || question.size() != q->question_end);
  demand(without_room(std::string{packet}).size() <= packet.size());
  return 0;
}
