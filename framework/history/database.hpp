#pragma once
#include <filesystem>
#include <optional>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace hone::history {

/// An open SQLite file. Every failure is Error(infrastructure) with SQLite's reason, except that a
/// file which is no database is Error(bad_input).
class Database {
 public:
  /// Makes the file and its folders where they are missing; waits 5 s for another writer.
  explicit Database(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);
  [[noreturn]] void fail(const std::string& what) const;
  sqlite3* handle() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
  std::filesystem::path file_;
};

/// A prepared statement; parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(Database& db, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int at, const std::string& text);
  Statement& bind(int at, long long value);
  Statement& bind(int at, const std::optional<double>& value);  ///< nothing is NULL
  /// The next row; false at the end.
  bool step();
  void reset();

  std::string text(int column) const;
  long long integer(int column) const;
  std::optional<double> real(int column) const;

 private:
  Database& db_;
  sqlite3_stmt* statement_ = nullptr;
};

/// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(db) { db_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& db_;
  bool open_ = true;
};

}  // namespace hone::history
