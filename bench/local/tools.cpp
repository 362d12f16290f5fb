#include "bench/local/tools.hpp"

namespace troupe::bench {

namespace {

constexpr const char* light = R"py(
def count_words(text: str):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return counts
)py";

constexpr const char* medium = R"py(
import base64
import datetime
import re

def inspect_log(lines: list):
    pattern = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\w+): (.*)")
    days, failures, levels = [], 0, {}
    for line in lines:
        found = pattern.match(line)
        if not found:
            continue
        year, month, day, level, rest = found.groups()
        levels[level] = levels.get(level, 0) + 1
        days.append(datetime.date(int(year), int(month), int(day)))
        try:
            int(rest)
        except ValueError as problem:
            failures += len(str(problem)) > 0
    span = (max(days) - min(days)).days
    text = base64.b64encode(repr(levels).encode()).decode()
    return {"span": span, "failures": failures, "levels": text}
)py";

constexpr const char* heavy = R"py(
from typing import Dict, List, Optional
from pydantic import BaseModel

def price_order(order: dict):
    class Line(BaseModel):
        sku: str
        quantity: int
        price: float
        note: Optional[str] = None

    class Order(BaseModel):
        customer: str
        lines: List[Line]
        tags: Dict[str, str] = {}

    parsed = Order(**order)
    return {"total": sum(x.quantity * x.price for x in parsed.lines)}
)py";

constexpr const char* typescript = R"ts(
export async function countWords(text: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of text.toLowerCase().split(/\s+/))
    counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
)ts";

constexpr const char* javascript = R"js(
async function countWords(text) {
  const counts = {};
  for (const word of text.toLowerCase().split(/\s+/))
    counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
)js";

} // namespace

const local_tool& javascript_tool() {
  static const local_tool tool{"javascript", javascript, "countWords",
                               typescript_tool().args, language::javascript};
  return tool;
}

const local_tool& typescript_tool() {
  static const local_tool tool{"typescript", typescript, "countWords",
                               local_tools().front().args,
                               language::typescript};
  return tool;
}

const std::vector<local_tool>& local_tools() {
  static const std::vector<local_tool> all{
    {"light", light, "count_words",
     R"({"text": "the quick brown fox jumps over the lazy dog and the cat"})"},
    {"medium", medium, "inspect_log",
     R"({"lines": ["2026-11-18 info: 42", "2026-11-02 warn: odd",)"
     R"( "2025-01-31 info: 7", "not a line", "2026-02-28 error: x"]})"},
    {"heavy", heavy, "price_order",
     R"({"order": {"customer": "c", "lines": [{"sku": "a", "quantity": 2,)"
     R"( "price": 1.5}, {"sku": "b", "quantity": "3", "price": 2}]}})"},
  };
  return all;
}

} // namespace troupe::bench
