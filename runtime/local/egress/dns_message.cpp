#include "runtime/local/egress/dns_message.hpp"

#include "runtime/model/host_pattern.hpp"

#include <algorithm>
#include <limits>

namespace troupe::network {

namespace {

constexpr std::size_t header_size = 12;
constexpr std::size_t longest_wire_name = 255;
constexpr std::size_t most_records = 256; // of one answer
constexpr std::size_t most_aliases = 16;
constexpr std::uint16_t class_internet = 1;

constexpr std::uint16_t flag_response = 0x8000;
constexpr std::uint16_t mask_opcode = 0x7800;
constexpr std::uint16_t mask_code = 0x000f;
constexpr std::uint16_t flag_recursion_desired = 0x0100;
constexpr std::uint16_t flag_recursion_available = 0x0080;
constexpr std::uint8_t flag_cut = 0x02; // of the third byte

constexpr std::size_t extras_count = 10; // where in the header
constexpr std::uint16_t type_opt = 41;

void write_u16(std::string& packet, std::size_t at, std::uint16_t value) {
  packet[at] = static_cast<char>(value >> 8);
  packet[at + 1] = static_cast<char>(value & 0xff);
}

error malformed(std::string_view why) {
  return bad_field("", "malformed DNS packet: " + std::string{why});
}

/// Reads forward through a packet; any step beyond its end fails for good.
class dns_reader {
public:
  explicit dns_reader(std::string_view packet) : packet_{packet} {}

  bool good() const { return good_; }
  std::size_t at() const { return at_; }

  std::uint16_t u16() {
    if (!has(2))
      return 0;
    auto value = static_cast<std::uint16_t>(byte(at_) << 8 | byte(at_ + 1));
    at_ += 2;
    return value;
  }
  std::uint32_t u32() {
    auto high = u16();
    return std::uint32_t{high} << 16 | u16();
  }
  std::string_view bytes(std::size_t n) {
    if (!has(n))
      return {};
    auto view = packet_.substr(at_, n);
    at_ += n;
    return view;
  }

  /// A name as dotted text, compression followed. Pointers must lead backward
  /// each time, so that none leads in a circle.
  std::string name() {
    std::string text;
    std::size_t here = at_, lowest = at_, size = 0;
    bool jumped = false;
    for (;;) {
      if (here >= packet_.size())
        return fail();
      auto length = byte(here);
      if ((length & 0xc0) == 0xc0) {
        if (here + 1 >= packet_.size())
          return fail();
        auto target
          = static_cast<std::size_t>((length & 0x3f) << 8 | byte(here + 1));
        if (!std::exchange(jumped, true))
          at_ = here + 2;
        if (target >= lowest)
          return fail();
        here = lowest = target;
        continue;
      }
      size += length + 1u;
      if ((length & 0xc0) != 0 || size > longest_wire_name
          || here + 1 + length > packet_.size())
        return fail();
      if (length == 0)
        break;
      if (!text.empty())
        text += '.';
      auto label = packet_.substr(here + 1, length);
      if (label.find('.') != label.npos)
        return fail(); // would read as two labels
      text += label;
      here += 1u + length;
    }
    if (!jumped)
      at_ = here + 1;
    return text;
  }

private:
  bool has(std::size_t n) {
    good_ = good_ && packet_.size() - at_ >= n;
    return good_;
  }
  std::string fail() {
    good_ = false;
    return {};
  }
  unsigned byte(std::size_t i) const {
    return static_cast<unsigned char>(packet_[i]);
  }

  std::string_view packet_;
  std::size_t at_ = 0;
  bool good_ = true;
};

struct record {
  std::string owner;
  std::uint16_t type = 0;
  std::uint32_t ttl = 0;
  ip_address address;
  std::string alias;
};

/// Names in packets may hold any byte; ours hold what host names hold.
std::string host_or_nothing(const std::string& name) {
  return normalized_host(name);
}

/// One resource record; nothing when the packet is malformed.
bool read_record(dns_reader& in, record& r) {
  r.owner = host_or_nothing(in.name());
  r.type = in.u16();
  auto klass = in.u16();
  r.ttl = in.u32();
  auto size = in.u16();
  auto end = in.at() + size;
  if (!in.good())
    return false;
  if (r.type == dns_type_cname && klass == class_internet) {
    r.alias = host_or_nothing(in.name());
    return in.good() && in.at() == end;
  }
  auto data = in.bytes(size);
  bool is_v4 = r.type == dns_type_a && data.size() == 4;
  bool is_v6 = r.type == dns_type_aaaa && data.size() == 16;
  if (klass == class_internet && (is_v4 || is_v6)) {
    std::copy(data.begin(), data.end(), r.address.bytes.begin());
    r.address.v6 = is_v6;
  } else {
    r.type = 0; // nothing that matters here
  }
  return in.good();
}

/// The name itself and everything it is an alias for.
std::vector<std::string> aliases_of(const std::string& name,
                                    const std::vector<record>& records,
                                    std::uint32_t& ttl) {
  std::vector<std::string> chain{name};
  while (chain.size() <= most_aliases) {
    auto next = std::find_if(records.begin(), records.end(), [&](auto& r) {
      return r.type == dns_type_cname && r.owner == chain.back()
        && !r.alias.empty()
        && std::find(chain.begin(), chain.end(), r.alias) == chain.end();
    });
    if (next == records.end())
      break;
    ttl = std::min(ttl, next->ttl);
    chain.push_back(next->alias);
  }
  return chain;
}

} // namespace

result<dns_query> parse_dns_query(std::string_view packet) {
  dns_reader in{packet};
  dns_query q;
  q.id = in.u16();
  auto flags = in.u16();
  auto questions = in.u16();
  in.u16(); // answers, authorities and extras: an OPT record at most
  in.u32();
  if (!in.good() || (flags & (flag_response | mask_opcode)) != 0
      || questions != 1)
    return malformed("not a standard query");
  auto name = in.name();
  // Written out: a pointer into the header would mean another name once we
  // have changed that.
  auto written = name.empty() ? 1 : name.size() + 2;
  if (in.good() && in.at() != header_size + written)
    return malformed("a compressed name in the question");
  q.name = normalized_host(name);
  q.type = in.u16();
  auto klass = in.u16();
  q.question_end = in.at();
  if (!in.good() || klass != class_internet
      || (q.name.empty() && !name.empty()))
    return malformed("not a question about a host");
  return q;
}

result<dns_answer> parse_dns_answer(std::string_view packet,
                                    const dns_query& asked) {
  dns_reader in{packet};
  auto id = in.u16();
  auto flags = in.u16();
  auto questions = in.u16();
  auto answers = in.u16();
  in.u32();
  auto name = normalized_host(in.name());
  auto type = in.u16();
  auto klass = in.u16();
  if (!in.good() || id != asked.id || (flags & flag_response) == 0
      || questions != 1 || name != asked.name || type != asked.type
      || klass != class_internet)
    return malformed("answers another question");
  dns_answer a;
  a.code = static_cast<dns_code>(flags & mask_code);
  std::vector<record> records;
  for (std::size_t i = 0; i < answers && i < most_records; ++i) {
    record r;
    if (!read_record(in, r))
      return malformed("a broken record");
    if (r.type != 0 && !r.owner.empty())
      records.push_back(std::move(r));
  }
  auto ttl = std::numeric_limits<std::uint32_t>::max();
  auto chain = aliases_of(asked.name, records, ttl);
  for (auto& r : records)
    if (r.type != dns_type_cname
        && std::find(chain.begin(), chain.end(), r.owner) != chain.end()) {
      a.addresses.push_back(r.address);
      ttl = std::min(ttl, r.ttl);
    }
  a.ttl = std::chrono::seconds{a.addresses.empty() ? 0 : ttl};
  return a;
}

std::string refuse_dns_query(std::string_view packet, const dns_query& asked,
                             dns_code code) {
  std::string answer{packet.substr(0, asked.question_end)};
  auto flags = static_cast<unsigned char>(packet[2]);
  // Response, same opcode, the recursion that was asked for.
  auto high = 0x80u | (flags & (flag_recursion_desired >> 8));
  answer[2] = static_cast<char>(high);
  answer[3]
    = static_cast<char>(flag_recursion_available | static_cast<unsigned>(code));
  std::fill(answer.begin() + 6, answer.begin() + header_size, '\0');
  return answer;
}

void set_dns_id(std::string& packet, std::uint16_t id) {
  write_u16(packet, 0, id);
}

std::string with_room(std::string query, std::uint16_t bytes) {
  dns_reader in{query};
  in.bytes(extras_count);
  if (in.u16() != 0 || !in.good())
    return query; // an OPT record of its own, or a signature over it all
  write_u16(query, extras_count, 1);
  std::string room(11, '\0'); // no name, type, size, flags, no options
  write_u16(room, 1, type_opt);
  write_u16(room, 3, bytes);
  return query + room;
}

std::string without_room(std::string packet) {
  dns_reader in{packet};
  in.u32();
  std::size_t questions = in.u16();
  std::size_t records = in.u16();
  records += in.u16();
  const auto extras = in.u16();
  records += extras;
  for (; questions > 0 && in.good(); --questions) {
    in.name();
    in.u32();
  }
  for (; records > 0 && in.good(); --records) {
    const auto begin = in.at();
    in.name();
    const auto type = in.u16();
    in.bytes(6); // class and time to live
    in.bytes(in.u16());
    if (type != type_opt || !in.good() || extras == 0)
      continue;
    packet.erase(begin, in.at() - begin);
    write_u16(packet, extras_count, static_cast<std::uint16_t>(extras - 1));
    break; // there is never another
  }
  return packet;
}

bool is_cut(std::string_view answer) {
  return answer.size() >= header_size
    && (static_cast<unsigned char>(answer[2]) & flag_cut) != 0;
}

void say_whole(std::string& answer) {
  if (answer.size() >= header_size)
    answer[2] = static_cast<char>(answer[2] & ~flag_cut);
}

} // namespace troupe::network
