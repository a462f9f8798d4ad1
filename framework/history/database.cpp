#include "history/database.hpp"

#include <sqlite3.h>

#include "diagnostic/diagnostic.hpp"

namespace hone::history {

Database::Database(const std::filesystem::path& file) : file_(file) {
  std::error_code ec;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), ec);
  if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(db_);
    sqlite3_close(db_);
    throw Error(Exit::infrastructure, "cannot open " + file.string() + ": " + why);
  }
  sqlite3_busy_timeout(db_, 5000);
  try {
    run("PRAGMA foreign_keys = ON");
    run("PRAGMA synchronous = NORMAL");
    run("SELECT count(*) FROM sqlite_schema");
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

Database::~Database() { sqlite3_close(db_); }

void Database::run(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

void Database::fail(const std::string& what) const {
  const int code = sqlite3_errcode(db_) & 0xff;
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    throw Error(Exit::bad_input, file_.string() + " is no SQLite database: " + sqlite3_errmsg(db_) +
                                     "; move it away to start a new history");
  throw Error(Exit::infrastructure,
              file_.string() + ": " + sqlite3_errmsg(db_) + " (in: " + what.substr(0, 60) + ")");
}

Statement::Statement(Database& db, const std::string& sql) : db_(db) {
  if (sqlite3_prepare_v2(db.handle(), sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    db.fail(sql);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int at, const std::string& text) {
  if (sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT) != SQLITE_OK)
    db_.fail("bind");
  return *this;
}

Statement& Statement::bind(int at, long long value) {
  if (sqlite3_bind_int64(statement_, at, value) != SQLITE_OK) db_.fail("bind");
  return *this;
}

Statement& Statement::bind(int at, const std::optional<double>& value) {
  const int code =
      value ? sqlite3_bind_double(statement_, at, *value) : sqlite3_bind_null(statement_, at);
  if (code != SQLITE_OK) db_.fail("bind");
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) db_.fail(sqlite3_sql(statement_));
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_, column);
  return bytes == nullptr ? "" : reinterpret_cast<const char*>(bytes);
}

long long Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::optional<double> Statement::real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  db_.run("COMMIT");
  open_ = false;
}

}  // namespace hone::history
