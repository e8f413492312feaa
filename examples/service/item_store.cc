// SPDX-License-Identifier: Apache-2.0
#include "item_store.h"

#include <random>
#include <string>

#include "weft/weft.h"

namespace service {
namespace {

constexpr const char* kSchema = R"(
  CREATE TABLE items(
    id INTEGER PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE TABLE history(
    id INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY(id, version)) WITHOUT ROWID;
)";

// Versions of an item that compaction leaves in its history.
constexpr std::int64_t kVersionsKept = 2;

constexpr const char* kWords[] = {
    "amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "heron",
    "inlet", "jetty", "karst", "larch", "mesa",  "north", "osier", "prairie"};
constexpr int kWordsInBody = 24;

std::string make_body(std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> pick(0, std::size(kWords) - 1);
  std::string body;
  for (int i = 0; i < kWordsInBody; ++i) {
    if (i > 0) body += ' ';
    body += kWords[pick(random)];
  }
  return body;
}

// Resets a statement however the block is left.
class Run {
 public:
  explicit Run(Statement& statement) : statement_(statement) {}
  ~Run() { statement_.reset(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

 private:
  Statement& statement_;
};

}  // namespace

struct ItemStore::Reader {
  explicit Reader(const std::filesystem::path& file) : connection(file) {}

  Connection connection;
  Statement find{connection, "SELECT version, body FROM items WHERE id = ?1"};
  Statement search{connection,
                   "SELECT id, version, body FROM items"
                   " WHERE instr(body, ?1) > 0 ORDER BY version DESC, id"
                   " LIMIT ?2"};
};

struct ItemStore::Writer {
  explicit Writer(const std::filesystem::path& file) : connection(file) {
    connection.execute(kSchema);
    // Compaction alone decides when the log is folded back.
    connection.execute("PRAGMA wal_autocheckpoint=0");
    insert.emplace(connection, "INSERT INTO items VALUES(?1, 1, ?2)");
    keep.emplace(connection,
                 "INSERT INTO history SELECT * FROM items WHERE id = ?1");
    replace.emplace(connection,
                    "UPDATE items SET version = version + 1, body = ?2"
                    " WHERE id = ?1 RETURNING version");
    prune.emplace(connection,
                  "DELETE FROM history WHERE version <="
                  " (SELECT version FROM items WHERE items.id = history.id)"
                  " - 1 - ?1");
  }

  Connection connection;
  std::optional<Statement> insert, keep, replace, prune;
};

// A reader for as long as this lives.
class ItemStore::ReaderLease {
 public:
  explicit ReaderLease(ItemStore& store) : store_(store) {
    WEFT_SPAN("lock_wait", {"for", "reader"});
    std::unique_lock lock(store.readers_mutex_);
    store.reader_returned_.wait(lock, [&] { return !store.readers_.empty(); });
    reader_ = std::move(store.readers_.back());
    store.readers_.pop_back();
  }
  ~ReaderLease() {
    {
      const std::lock_guard lock(store_.readers_mutex_);
      store_.readers_.push_back(std::move(reader_));
    }
    store_.reader_returned_.notify_one();
  }
  ReaderLease(const ReaderLease&) = delete;
  ReaderLease& operator=(const ReaderLease&) = delete;

  Reader* operator->() const noexcept { return reader_.get(); }

 private:
  ItemStore& store_;
  std::unique_ptr<Reader> reader_;
};

ItemStore::ItemStore(const std::filesystem::path& file, std::int64_t items,
                     int read_connections)
    : writer_(std::make_unique<Writer>(file)) {
  fill(items);
  for (int i = 0; i < read_connections; ++i) {
    readers_.push_back(std::make_unique<Reader>(file));
  }
}

ItemStore::~ItemStore() = default;

void ItemStore::fill(std::int64_t items) {
  std::mt19937 random(1);
  writer_->connection.execute("BEGIN");
  for (std::int64_t id = 1; id <= items; ++id) {
    const std::string body = make_body(random);
    const Run run(*writer_->insert);
    writer_->insert->bind(1, id).bind(2, body).step();
  }
  writer_->connection.execute("COMMIT");
}

std::optional<Item> ItemStore::find(std::int64_t id) {
  const ReaderLease reader(*this);
  WEFT_SPAN_NAMED_CAT(query, "db", "query_item", {"id", id});
  const Run run(reader->find);
  if (!reader->find.bind(1, id).step()) {
    query.set("rows", 0);
    return std::nullopt;
  }
  query.set("rows", 1);
  return Item{id, reader->find.integer(0), reader->find.text(1)};
}

std::vector<Item> ItemStore::search(std::string_view word, std::int64_t limit) {
  const ReaderLease reader(*this);
  WEFT_SPAN_NAMED_CAT(query, "db", "query_search", {"word", word});
  const Run run(reader->search);
  reader->search.bind(1, word).bind(2, limit);
  std::vector<Item> found;
  while (reader->search.step()) {
    found.push_back({reader->search.integer(0), reader->search.integer(1),
                     reader->search.text(2)});
  }
  query.set("rows", found.size());
  return found;
}

void ItemStore::compact() {
  std::unique_lock lock(writer_mutex_, std::defer_lock);
  {
    WEFT_SPAN("lock_wait", {"for", "writer"});
    lock.lock();
  }
  {
    WEFT_SPAN_NAMED_CAT(prune, "db", "prune_history");
    const Run run(*writer_->prune);
    writer_->prune->bind(1, kVersionsKept).step();
    prune.set("rows", writer_->connection.changed_rows());
  }
  WEFT_SPAN_CAT("db", "checkpoint");
  writer_->connection.execute("PRAGMA wal_checkpoint(PASSIVE)");
}

ItemStore::Transaction::Transaction(ItemStore& store)
    : lock_(store.writer_mutex_, std::defer_lock), writer_(*store.writer_) {
  WEFT_SPAN("lock_wait", {"for", "writer"});
  lock_.lock();
  writer_.connection.execute("BEGIN IMMEDIATE");
}

ItemStore::Transaction::~Transaction() {
  if (committed_) return;
  try {
    writer_.connection.execute("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite has rolled back by itself.
  }
}

std::optional<Item> ItemStore::Transaction::replace(std::int64_t id,
                                                    std::string_view body) {
  {
    const Run run(*writer_.keep);
    writer_.keep->bind(1, id).step();
  }
  const Run run(*writer_.replace);
  if (!writer_.replace->bind(1, id).bind(2, body).step()) return std::nullopt;
  return Item{id, writer_.replace->integer(0), std::string(body)};
}

void ItemStore::Transaction::commit() {
  WEFT_SPAN_CAT("db", "commit");
  writer_.connection.execute("COMMIT");
  committed_ = true;
}

}  // namespace service
