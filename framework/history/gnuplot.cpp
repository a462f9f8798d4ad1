#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "history/plot.hpp"
#include "process/run.hpp"
#include "report/clean_text.hpp"

namespace hone::history {
namespace {

/// A gnuplot string in single quotes: nothing in it is interpreted.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : report::clean_line(text, 120))
    out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string header(const std::filesystem::path& file, int width, int height) {
  const std::string type =
      file.extension() == ".svg"
          ? fmt::format("svg size {},{} dynamic background 'white'", width, height)
          : fmt::format("pngcairo size {},{} background 'white'", width, height);
  return fmt::format(
      "set encoding utf8\nset terminal {} noenhanced font 'DejaVu Sans,11'\n"
      "set output {}\n",
      type, quoted(file.string()));
}

/// "2026-01-31T12:34:56Z" as seconds, for gnuplot's time axis.
long long seconds(const std::string& time) {
  std::tm tm{};
  if (::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &tm) == nullptr) return 0;
  return ::timegm(&tm);
}

void check_ending(const std::filesystem::path& file) {
  if (file.extension() != ".svg" && file.extension() != ".png")
    throw Error(Exit::usage, file.string() + ": a plot is written as .svg or .png");
}

void run_gnuplot(const std::string& script, const std::filesystem::path& file) {
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
  process::Command command;
  command.argv = {"gnuplot", "-"};
  command.input = script;
  command.inherit_environment = true;
  const auto result = process::run(command);
  if (!result.error.empty())
    throw Error(Exit::infrastructure,
                "gnuplot cannot be started: " + result.error + " (apt-get install gnuplot-nox)");
  if (!result.ok())
    throw Error(Exit::infrastructure,
                "gnuplot " + result.str() + ": " + report::clean_line(result.err, 300));
}

}  // namespace

std::string gnuplot_script(const Trend& trend, const std::filesystem::path& file) {
  check_ending(file);
  const bool share = trend.metric == Metric::success || trend.metric == Metric::lift;
  const double scale = share ? 100 : 1;
  std::string script = header(file, 900, 420);
  for (size_t s = 0; s < trend.series.size(); ++s) {
    script += fmt::format("$data{} << EOD\n", s);
    for (const auto& p : trend.series[s].points)
      script += fmt::format("{} {:.9g} {:.9g} {:.9g}\n", seconds(p.time), scale * p.value,
                            scale * p.low.value_or(p.value), scale * p.high.value_or(p.value));
    script += "EOD\n";
  }
  script += fmt::format(
      "set title {}\nset xdata time\nset timefmt '%s'\nset format x '%m-%d %H:%M'\n"
      "set xtics rotate by 30 right\n"
      "set grid ytics lc rgb '#dddddd'\nset key outside right top\nset border 3\nset tics "
      "nomirror\n"
      "set ylabel {}\nset offsets graph 0.03, graph 0.03, graph 0.08, graph 0.05\n",
      quoted(fmt::format("{} over runs", metric_name(trend.metric))),
      quoted(share ? (trend.metric == Metric::lift ? "points" : "% correct")
                   : metric_name(trend.metric)));
  if (trend.metric == Metric::success) script += "set yrange [0:100]\n";
  script += "plot ";
  for (size_t s = 0; s < trend.series.size(); ++s) {
    const std::string style =
        trend.metric == Metric::lift
            ? fmt::format(
                  "$data{0} using 1:2:3:4 with yerrorbars lt {1} pt 7 notitle, $data{0} "
                  "using 1:2 with lines lt {1} title {2}",
                  s, s + 1, quoted(trend.series[s].name))
            : fmt::format("$data{} using 1:2 with linespoints lt {} pt 7 title {}", s, s + 1,
                          quoted(trend.series[s].name));
    script += (s == 0 ? "" : ", ") + style;
  }
  return script + "\n";
}

std::string gnuplot_script(const Matrix& matrix, const std::filesystem::path& file) {
  check_ending(file);
  const int width = 260 + 90 * static_cast<int>(std::max<size_t>(1, matrix.columns.size()));
  const int height = 140 + 22 * static_cast<int>(matrix.cases.size());
  std::string script = header(file, std::min(width, 4000), std::min(height, 8000));
  script += "$data << EOD\n";
  std::string x, y;
  for (size_t r = 0; r < matrix.cases.size(); ++r) {
    y += fmt::format("{}{} {}", r == 0 ? "" : ", ", quoted(matrix.cases[r]), r);
    for (size_t c = 0; c < matrix.columns.size(); ++c)
      if (matrix.rates[r][c])
        script += fmt::format("{} {} {:.0f}\n", c, r, 100 * *matrix.rates[r][c]);
  }
  for (size_t c = 0; c < matrix.columns.size(); ++c)
    x += fmt::format("{}{} {}", c == 0 ? "" : ", ", quoted(matrix.columns[c]), c);
  return script + fmt::format(
                      "EOD\nset title {}\nset xtics ({}) rotate by 30 right\nset ytics ({})\n"
                      "set xrange [-0.5:{}]\nset yrange [{}:-0.5]\nset cbrange [0:100]\nunset key\n"
                      "set cblabel '% correct with the skill'\nset tics nomirror scale 0\n"
                      "set palette defined (0 '#c0392b', 50 '#f4d03f', 100 '#27ae60')\n"
                      "plot $data using 1:2:(0.48):(0.46):3 with boxxyerror lc palette fs solid "
                      "noborder, $data using 1:2:(sprintf('%.0f', $3)) "
                      "with labels\n",
                      quoted(matrix.title), x, y, static_cast<double>(matrix.columns.size()) - 0.5,
                      static_cast<double>(matrix.cases.size()) - 0.5);
}

void draw(const Trend& trend, const std::filesystem::path& file) {
  if (trend.series.empty()) throw Error(Exit::inconclusive, "no run to plot");
  run_gnuplot(gnuplot_script(trend, file), file);
}

void draw(const Matrix& matrix, const std::filesystem::path& file) {
  if (matrix.cases.empty()) throw Error(Exit::inconclusive, "no run to plot");
  run_gnuplot(gnuplot_script(matrix, file), file);
}

}  // namespace hone::history
