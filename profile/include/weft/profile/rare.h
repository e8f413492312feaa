// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_RARE_H_
#define WEFT_PROFILE_RARE_H_

// What few rows of very many have, out of line: a row without it pays for a
// pointer.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

// A value that is its default in most objects. Copies are deep. Reading never
// allocates; thread-safe as a plain value is.
template <class T>
class Rare {
 public:
  Rare() noexcept = default;
  Rare(const Rare& other)
      : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) {
    if (this != &other) *this = Rare(other);
    return *this;
  }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  const T& operator*() const {
    static const T none{};
    return value_ ? *value_ : none;
  }
  const T* operator->() const { return &**this; }
  // To write to. Allocates the first time.
  T& edit() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  bool operator==(const Rare& other) const { return **this == *other; }

 private:
  std::unique_ptr<T> value_;
};

// A list that many objects have in common. It is never changed, only replaced,
// so copies share it. Thread-safe as a plain value is.
template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedList() noexcept = default;
  // Implicit, as a list is what it stands for.
  SharedList(std::vector<T> items)
      : items_(items.empty() ? nullptr
                             : std::make_shared<const std::vector<T>>(
                                   std::move(items))) {}
  SharedList(std::initializer_list<T> items)
      : SharedList(std::vector<T>(items)) {}

  const std::vector<T>& items() const {
    static const std::vector<T> none;
    return items_ ? *items_ : none;
  }
  operator const std::vector<T>&() const { return items(); }
  const_iterator begin() const { return items().begin(); }
  const_iterator end() const { return items().end(); }
  auto rbegin() const { return items().rbegin(); }
  auto rend() const { return items().rend(); }
  std::size_t size() const noexcept { return items_ ? items_->size() : 0; }
  bool empty() const noexcept { return items_ == nullptr; }
  const T& operator[](std::size_t i) const { return items()[i]; }
  void clear() noexcept { items_ = nullptr; }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.items_ == b.items_ || a.items() == b.items();
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

}  // namespace weft

#endif  // WEFT_PROFILE_RARE_H_
