#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "history/runs_table.hpp"

namespace hone::history {

/// A metric over runs, oldest first; one line a series.
struct Trend {
  Metric metric = Metric::lift;
  struct Point {
    std::string time, commit;
    double value = 0;
    std::optional<double> low, high;  ///< 95 % interval, lift only
    bool failed = false;              ///< a gate failed
  };
  struct Series {
    std::string name;  ///< evaluation/model, and the arm where the metric has two
    std::vector<Point> points;
  };
  std::vector<Series> series;
};

/// From a listing (newest first). Runs without the metric are left out.
Trend trend_of(const std::vector<RunRow>& rows, Metric metric);

/// Rates of cases (rows) in several measurements (columns); nothing where one has no such case.
struct Matrix {
  std::string title;
  std::vector<std::string> columns, cases;
  std::vector<std::vector<std::optional<double>>> rates;  ///< [case][column]
};

/// With the skill, columns in the order given; cases in the order of first appearance.
Matrix matrix_of(const std::vector<Snapshot>& snapshots);

std::string terminal_trend(const Trend& trend, const report::TerminalStyle& style = {});
std::string terminal_matrix(const Matrix& matrix, const report::TerminalStyle& style = {});

/// Draws with gnuplot into an .svg or .png file. Throws Error(usage) for another ending and
/// Error(infrastructure) naming the package where gnuplot is missing or fails.
void draw(const Trend& trend, const std::filesystem::path& file);
void draw(const Matrix& matrix, const std::filesystem::path& file);

/// The program that gnuplot is given.
std::string gnuplot_script(const Trend& trend, const std::filesystem::path& file);
std::string gnuplot_script(const Matrix& matrix, const std::filesystem::path& file);

}  // namespace hone::history
