#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

namespace troupe {

/// An ordered map whose copies share what they have in common: a copy costs
/// nothing, a change afterwards the path to one entry. So a picture of many
/// thousand entries can be replaced on every change while others still read
/// the old one. Named and used as std::map, but what is found cannot be
/// changed: `map[key] = value` does that.
///
/// An AVL tree of immutable nodes. Different copies may be read and changed in
/// different threads at once; one and the same only as with std::map.
template <class Key, class Value, class Less = std::less<>>
class persistent_map {
public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<const Key, Value>;
  class const_iterator;
  using iterator = const_iterator;

  persistent_map() = default;
  persistent_map(std::initializer_list<value_type> entries) {
    for (const auto& [key, value] : entries)
      (*this)[key] = value;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const;
  const_iterator end() const { return {}; }

  template <class K>
  const_iterator find(const K& key) const;
  template <class K>
  const_iterator lower_bound(const K& key) const;
  template <class K>
  const_iterator upper_bound(const K& key) const;
  template <class K>
  bool contains(const K& key) const {
    return look_up(key) != nullptr;
  }
  template <class K>
  const Value& at(const K& key) const {
    if (const auto* found = look_up(key))
      return found->entry->second;
    throw std::out_of_range{"persistent_map::at"};
  }

  /// The entry's value in this copy alone, made where there is none. The
  /// reference is good until the next change or copy.
  Value& operator[](const Key& key) {
    Value* place = nullptr;
    root_ = put(root_, key, place);
    return *place;
  }
  /// As std::map: what is there stays.
  std::pair<const_iterator, bool> emplace(const Key& key, Value value) {
    bool is_new = !contains(key);
    if (is_new)
      (*this)[key] = std::move(value);
    return {find(key), is_new};
  }
  std::size_t erase(const Key& key) {
    if (!contains(key))
      return 0;
    root_ = without(root_, key);
    --size_;
    return 1;
  }
  void clear() { *this = {}; }

private:
  struct node;
  using link = std::shared_ptr<const node>;
  struct node {
    // Apart, so that a path can be copied without its keys and values.
    std::shared_ptr<value_type> entry;
    link left;
    link right;
    int height;
  };
  // An AVL tree of 2^32 entries is not higher than 1.44 times 32.
  static constexpr std::size_t highest = 47;

  static int height(const link& n) { return n ? n->height : 0; }
  static link join(std::shared_ptr<value_type> entry, link left, link right) {
    auto h = 1 + std::max(height(left), height(right));
    return std::make_shared<const node>(
      node{std::move(entry), std::move(left), std::move(right), h});
  }
  static link balance(const std::shared_ptr<value_type>& entry, link left,
                      link right);
  static link lean_right(const std::shared_ptr<value_type>& entry,
                         const link& left, link right);
  static link lean_left(const std::shared_ptr<value_type>& entry, link left,
                        const link& right);

  template <class K>
  const node* look_up(const K& key) const;
  link put(const link& at, const Key& key, Value*& place);
  static link without(const link& at, const Key& key);
  static link without_first(const link& at);
  static const link& first_of(const link& at) {
    return at->left ? first_of(at->left) : at;
  }

  link root_;
  std::size_t size_ = 0;
};

/// Goes through the entries in order. Good as long as the map it is of.
template <class Key, class Value, class Less>
class persistent_map<Key, Value, Less>::const_iterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = persistent_map::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  const_iterator() = default;
  const_iterator(const const_iterator& other) { *this = other; }
  const_iterator& operator=(const const_iterator& other) {
    depth_ = other.depth_;
    std::copy_n(other.path_.begin(), depth_, path_.begin());
    return *this;
  }

  reference operator*() const { return *here()->entry; }
  pointer operator->() const { return here()->entry.get(); }
  const_iterator& operator++() {
    const auto* next = here()->right.get();
    --depth_;
    push_first(next);
    return *this;
  }
  const_iterator operator++(int) {
    auto before = *this;
    ++*this;
    return before;
  }
  bool operator==(const const_iterator& other) const {
    return depth_ == 0 || other.depth_ == 0 ? depth_ == other.depth_
                                            : here() == other.here();
  }

private:
  friend class persistent_map;

  const node* here() const { return path_[depth_ - 1]; }
  void push(const node* n) {
    assert(depth_ < highest);
    path_[depth_++] = n;
  }
  void push_first(const node* n) {
    for (; n; n = n->left.get())
      push(n);
  }

  // The nodes whose entry is still to come, the next one last.
  std::array<const node*, highest> path_;
  std::size_t depth_ = 0;
};

// -- looking ------------------------------------------------------------------

template <class Key, class Value, class Less>
template <class K>
auto persistent_map<Key, Value, Less>::look_up(const K& key) const
  -> const node* {
  const auto* n = root_.get();
  while (n) {
    if (Less{}(key, n->entry->first))
      n = n->left.get();
    else if (Less{}(n->entry->first, key))
      n = n->right.get();
    else
      return n;
  }
  return nullptr;
}

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::begin() const -> const_iterator {
  const_iterator i;
  i.push_first(root_.get());
  return i;
}

template <class Key, class Value, class Less>
template <class K>
auto persistent_map<Key, Value, Less>::lower_bound(const K& key) const
  -> const_iterator {
  const_iterator i;
  for (const auto* n = root_.get(); n;) {
    bool is_before = Less{}(n->entry->first, key);
    if (!is_before)
      i.push(n);
    n = is_before ? n->right.get() : n->left.get();
  }
  return i;
}

template <class Key, class Value, class Less>
template <class K>
auto persistent_map<Key, Value, Less>::upper_bound(const K& key) const
  -> const_iterator {
  auto i = lower_bound(key);
  if (i != end() && !Less{}(key, i->first))
    ++i;
  return i;
}

template <class Key, class Value, class Less>
template <class K>
auto persistent_map<Key, Value, Less>::find(const K& key) const
  -> const_iterator {
  auto i = lower_bound(key);
  return i == end() || Less{}(key, i->first) ? end() : i;
}

// -- changing -----------------------------------------------------------------

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::lean_right(
  const std::shared_ptr<value_type>& entry, const link& left, link right)
  -> link {
  if (height(right->left) <= height(right->right))
    return join(right->entry, join(entry, left, right->left), right->right);
  const auto& middle = right->left;
  return join(middle->entry, join(entry, left, middle->left),
              join(right->entry, middle->right, right->right));
}

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::lean_left(
  const std::shared_ptr<value_type>& entry, link left, const link& right)
  -> link {
  if (height(left->right) <= height(left->left))
    return join(left->entry, left->left, join(entry, left->right, right));
  const auto& middle = left->right;
  return join(middle->entry, join(left->entry, left->left, middle->left),
              join(entry, middle->right, right));
}

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::balance(
  const std::shared_ptr<value_type>& entry, link left, link right) -> link {
  auto difference = height(right) - height(left);
  if (difference > 1)
    return lean_right(entry, left, std::move(right));
  if (difference < -1)
    return lean_left(entry, std::move(left), right);
  return join(entry, std::move(left), std::move(right));
}

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::put(const link& at, const Key& key,
                                           Value*& place) -> link {
  if (at && Less{}(key, at->entry->first))
    return balance(at->entry, put(at->left, key, place), at->right);
  if (at && Less{}(at->entry->first, key))
    return balance(at->entry, at->left, put(at->right, key, place));
  size_ += at ? 0 : 1;
  auto entry = at ? std::make_shared<value_type>(*at->entry)
                  : std::make_shared<value_type>(key, Value{});
  place = &entry->second;
  return join(std::move(entry), at ? at->left : nullptr,
              at ? at->right : nullptr);
}

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::without_first(const link& at) -> link {
  if (!at->left)
    return at->right;
  return balance(at->entry, without_first(at->left), at->right);
}

template <class Key, class Value, class Less>
auto persistent_map<Key, Value, Less>::without(const link& at, const Key& key)
  -> link {
  if (Less{}(key, at->entry->first))
    return balance(at->entry, without(at->left, key), at->right);
  if (Less{}(at->entry->first, key))
    return balance(at->entry, at->left, without(at->right, key));
  if (!at->left || !at->right)
    return at->left ? at->left : at->right;
  return balance(first_of(at->right)->entry, at->left,
                 without_first(at->right));
}

} // namespace troupe
