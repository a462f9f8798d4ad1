"use strict";
// Draws the report from the data blocks of the page. Whatever comes from a model or a file becomes
// text nodes only; nothing here makes HTML out of strings.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("summary").textContent);
  const ROWS = 50;
  const CODES = "abcdefghijklmnopqrstuvwxyz";
  const MARKS = {
    correct: ["✓", "correct"], wrong: ["✗", "wrong"], "no-code": ["∅", "code"],
    "extract-error": ["E", "code"], "compile-error": ["C", "code"], "launch-error": ["L", "fault"],
    "memory-fault": ["M", "fault"], race: ["R", "fault"], "sync-fault": ["S", "fault"],
    timeout: ["T", "stop"], crashed: ["!", "stop"], "no-kernel": ["K", "stop"],
    suspicious: ["?", "stop"], refused: ["–", "stop"], truncated: ["…", "stop"],
    "infrastructure-error": ["i", "infrastructure"], "not-run": ["·", "none"],
  };
  const state = { evaluation: 0, page: 0, find: "", failing: false, charts: [] };

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "class") node.className = value;
      else if (name === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
      else if (name === "width") node.style.width = value;
      else if (name === "fill") node.style.background = value;
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
    return node;
  }
  const show = (id, ...children) => byId(id).replaceChildren(...children.flat(Infinity).filter((c) => c));
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const known = (x) => x !== null && x !== undefined;
  const percent = (x, digits = 1) => (known(x) ? (100 * x).toFixed(digits) + " %" : "–");
  const signed = (x) => (x >= 0 ? "+" : "−") + Math.abs(x).toFixed(1);
  const chance = (p) => (p < 0.001 ? p.toExponential(1) : p.toPrecision(2));
  const whole = (x) => (known(x) ? Math.round(x).toLocaleString("en") : "–");
  const time = (ns) => !known(ns) ? "–" : ns < 1e3 ? ns.toFixed(0) + " ns" : ns < 1e6 ? (ns / 1e3).toFixed(2) + " µs" : (ns / 1e6).toFixed(2) + " ms";
  const evaluation = () => data.evaluations[state.evaluation];
  const outcome = (code) => data.outcomes[CODES.indexOf(code)];

  function mark(name) {
    const [sign, kind] = MARKS[name] || ["?", "stop"];
    return make("span", { class: "mark " + kind, title: name, "aria-hidden": "true" }, sign);
  }

  // --- header, cards, gates -------------------------------------------------------------------
  function header() {
    const e = evaluation(), env = data.environment;
    show("evaluation", e ? e.name : "");
    const parts = [e && "skill " + e.skill, env.device, env.toolkit, env.sandbox && "sandbox " + env.sandbox,
      env.commit && "commit " + env.commit.slice(0, 10) + (env.dirty ? " (dirty)" : ""), env.generated];
    show("environment", parts.filter(Boolean).join(" · "));
    show("footer", "Hone " + env.version + (env.host ? " on " + env.host : "") +
      ". Rates are means over cases; intervals are 95 %. Times named “model bound” are bounds of a model of the GPU, not measurements.");
  }

  function armRow(label, arm, colour) {
    return [make("span", {}, label),
      make("span", { class: "meter" }, make("i", { width: 100 * (arm.rate || 0) + "%", fill: colour })),
      make("span", {}, percent(arm.rate) + " (" + arm.passes + "/" + arm.runs + ")")];
  }

  function card(m) {
    const lift = m.lift, clear = lift && known(lift.low) && (lift.low > 0 || lift.high < 0);
    const facts = [];
    if (lift && known(lift.low)) {
      facts.push("95 % interval " + signed(100 * lift.low) + " to " + signed(100 * lift.high) + " over " + lift.cases +
        " cases, t p = " + chance(lift.p) + (known(lift.sign_flip) ? ", sign-flip p = " + chance(lift.sign_flip) : "") +
        (known(lift.holm) ? ", Holm p = " + chance(lift.holm) : ""));
    }
    const tokens = "tokens a trial " + whole(m.without.tokens) + " → " + whole(m.with.tokens) +
      ", for a correct answer " + whole(m.without.per_correct) + " → " + whole(m.with.per_correct);
    const by = (arm) => arm.turns.map((rate, i) => "turn " + (i + 1) + " " + percent(rate, 0)).join(", ");
    if (m.with.turns.length) facts.push("correct without the skill by " + by(m.without) + "; with it by " + by(m.with));
    const cost = known(m.with.cost) && "cost a trial " + m.without.cost.toPrecision(3) + " → " + m.with.cost.toPrecision(3);
    const lost = m.with.errors + m.without.errors, missing = m.with.not_run + m.without.not_run;
    return make("div", { class: "card" },
      make("h2", {}, m.name, m.id && m.id !== m.name ? make("span", { class: "quiet" }, "  " + m.id) : null),
      make("p", { class: "big" + (clear ? (lift.points > 0 ? " up" : " down") : "") }, lift ? signed(100 * lift.points) + " points" : "nothing to compare"),
      make("p", { class: "quiet" }, "lift of the skill"),
      make("div", { class: "pair" }, armRow("without", m.without, "var(--without)"), armRow("with", m.with, "var(--with)")),
      facts.map((f) => make("p", { class: "quiet" }, f)),
      make("p", { class: "quiet" }, tokens), cost ? make("p", { class: "quiet" }, cost) : null,
      known(m.fast_1) ? make("p", { class: "quiet" }, percent(m.fast_1, 0) + " of the kernel cases are correct and beat the reference (fast₁)") : null,
      lost ? make("p", { class: "fail" }, lost + " trials could not be measured and are not counted") : null,
      missing ? make("p", { class: "quiet" }, missing + " trials not run") : null,
      m.caveat ? make("p", { class: "inconclusive" }, m.caveat) : null,
      m.gates.map((g) => make("div", { class: "gate" }, make("span", { class: "badge " + g.outcome }, g.outcome),
        make("div", {}, make("code", {}, g.gate), make("p", {}, g.message)))));
  }

  function verdict() {
    const e = evaluation();
    const problems = e.problems.map((p) => make("p", { class: "inconclusive" }, p));
    show("verdict", make("div", { class: "cards" }, e.models.map(card)),
      problems.length > 2 ? make("details", {}, make("summary", { class: "inconclusive" }, problems.length + " warnings"), problems) : problems);
  }

  // --- charts ---------------------------------------------------------------------------------
  const whiskers = {
    id: "whiskers",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      const horizontal = chart.options.indexAxis === "y";
      chart.data.datasets.forEach((set, i) => {
        if (!set.intervals || !chart.isDatasetVisible(i)) return;
        chart.getDatasetMeta(i).data.forEach((bar, j) => {
          const range = set.intervals[j];
          if (!range) return;
          const scale = horizontal ? chart.scales.x : chart.scales.y;
          const [a, b] = range.map((v) => scale.getPixelForValue(v));
          ctx.save();
          ctx.strokeStyle = css("--ink");
          ctx.lineWidth = 1.5;
          ctx.beginPath();
          if (horizontal) {
            ctx.moveTo(a, bar.y); ctx.lineTo(b, bar.y);
            for (const x of [a, b]) { ctx.moveTo(x, bar.y - 5); ctx.lineTo(x, bar.y + 5); }
          } else {
            ctx.moveTo(bar.x, a); ctx.lineTo(bar.x, b);
            for (const y of [a, b]) { ctx.moveTo(bar.x - 5, y); ctx.lineTo(bar.x + 5, y); }
          }
          ctx.stroke();
          ctx.restore();
        });
      });
    },
  };

  function figure(title, note, label, rows, config) {
    const canvas = make("canvas", { role: "img", "aria-label": label });
    const plot = make("div", { class: "plot" }, canvas);
    if (rows > 6) plot.style.height = 8 + 1.6 * rows + "rem";
    byId("charts").append(make("figure", {}, make("figcaption", {}, title, make("small", {}, note)), plot));
    state.charts.push(new Chart(canvas, config));
  }

  function options(extra) {
    const grid = { color: css("--line") }, ticks = { color: css("--quiet") };
    const axis = (title, more) => ({ grid, ticks: { ...ticks, ...(more && more.ticks) }, title: { display: !!title, text: title, color: css("--quiet") }, ...(more && more.range) });
    return { responsive: true, maintainAspectRatio: false, animation: false,
      indexAxis: extra.indexAxis || "x",
      plugins: { legend: { display: extra.legend !== false, labels: { color: css("--ink"), boxWidth: 14 } }, tooltip: { callbacks: extra.tooltip || {} } },
      scales: { x: axis(extra.x, extra.xMore), y: axis(extra.y, extra.yMore) } };
  }

  function liftChart(models) {
    const lifted = models.filter((m) => m.lift);
    if (!lifted.length) return;
    figure("Lift of the skill", "with minus without, points, 95 % interval over cases",
      lifted.map((m) => m.name + " " + signed(100 * m.lift.points)).join(", "), 2 * lifted.length,
      { type: "bar", plugins: [whiskers], data: { labels: lifted.map((m) => m.name), datasets: [{ label: "lift",
        data: lifted.map((m) => 100 * m.lift.points), backgroundColor: css("--with"), maxBarThickness: 26,
        intervals: lifted.map((m) => (known(m.lift.low) ? [100 * m.lift.low, 100 * m.lift.high] : null)) }] },
      options: options({ indexAxis: "y", legend: false, x: "points", xMore: { range: {
        suggestedMin: Math.min(0, ...lifted.map((m) => 100 * (m.lift.low ?? 0))), suggestedMax: Math.max(10, ...lifted.map((m) => 100 * (m.lift.high ?? 0))) } } }) });
  }

  function rateChart(models) {
    const set = (label, arm, colour) => ({ label, data: models.map((m) => (known(m[arm].rate) ? 100 * m[arm].rate : null)), backgroundColor: css(colour), maxBarThickness: 46,
      intervals: models.map((m) => (known(m[arm].low) ? [100 * m[arm].low, 100 * m[arm].high] : null)) });
    figure("Pass rate", "share of runs that are correct, mean over cases, 95 % interval",
      models.map((m) => m.name + " " + percent(m.without.rate) + " without, " + percent(m.with.rate) + " with").join("; "), 0,
      { type: "bar", plugins: [whiskers], data: { labels: models.map((m) => m.name), datasets: [set("without skill", "without", "--without"), set("with skill", "with", "--with")] },
        options: options({ y: "% correct", yMore: { range: { min: 0, max: 100 } } }) });
  }

  function tokenChart(models) {
    const both = models.filter((m) => known(m.with.tokens) && known(m.without.tokens) && known(m.with.rate) && known(m.without.rate));
    if (!both.length) return;
    const colours = ["--with", "--without", "--reference", "--bad", "--keyword", "--good", "--number", "--warn"];
    const arrows = { id: "arrows", afterDatasetsDraw(chart) {
      chart.data.datasets.forEach((set, i) => {
        if (!chart.isDatasetVisible(i)) return;
        const [a, b] = chart.getDatasetMeta(i).data;
        const angle = Math.atan2(b.y - a.y, b.x - a.x), length = Math.hypot(b.x - a.x, b.y - a.y);
        if (length < 22) return;
        const { ctx } = chart, x = b.x - 9 * Math.cos(angle), y = b.y - 9 * Math.sin(angle);
        ctx.save(); ctx.fillStyle = set.borderColor; ctx.beginPath(); ctx.moveTo(x, y);
        for (const side of [-0.45, 0.45]) ctx.lineTo(x - 11 * Math.cos(angle + side), y - 11 * Math.sin(angle + side));
        ctx.fill(); ctx.restore();
      });
    } };
    figure("Tokens against accuracy", "hollow: without the skill, filled: with it; up is better, left is cheaper",
      both.map((m) => m.name + ": " + whole(m.without.tokens) + " tokens, " + percent(m.without.rate) + " to " + whole(m.with.tokens) + " tokens, " + percent(m.with.rate)).join("; "), 0,
      { type: "line", plugins: [arrows], data: { datasets: both.map((m, i) => {
        const colour = css(colours[i % colours.length]);
        return { label: m.name, clip: 8, borderColor: colour, borderWidth: 2, pointRadius: 6, pointBorderColor: colour, pointBackgroundColor: [css("--card"), colour],
          data: [{ x: m.without.tokens, y: 100 * m.without.rate }, { x: m.with.tokens, y: 100 * m.with.rate }] };
      }) },
      options: options({ x: "tokens a trial", y: "% correct", xMore: { range: { type: "linear", beginAtZero: true, grace: "8%" } }, yMore: { range: { min: 0, max: 100 } } }) });
  }

  function historyChart(e) {
    const points = data.history.filter((h) => h.evaluation === e.name && known(h.lift));
    const models = [...new Set(points.map((h) => h.model))];
    const times = [...new Set(points.map((h) => h.time))].sort();
    if (times.length < 2) return;
    const colours = ["--with", "--without", "--reference", "--bad", "--keyword", "--good"];
    const name = (t) => t.slice(5, 16).replace("T", " ");
    figure("Lift over time", "each measurement that was recorded, points, 95 % interval",
      points.map((h) => h.model + " " + name(h.time) + " " + signed(100 * h.lift)).join(", "), 0,
      { type: "line", plugins: [whiskers], data: { labels: times.map(name), datasets: models.map((model, i) => {
        const colour = css(colours[i % colours.length]);
        const own = times.map((t) => points.find((h) => h.model === model && h.time === t));
        return { label: model, borderColor: colour, backgroundColor: colour, pointRadius: 4, spanGaps: true,
          data: own.map((h) => (h ? 100 * h.lift : null)), intervals: own.map((h) => (h && known(h.low) ? [100 * h.low, 100 * h.high] : null)) };
      }) },
      options: options({ y: "points", yMore: { range: {
        suggestedMin: Math.min(0, ...points.map((h) => 100 * (h.low ?? h.lift))), suggestedMax: Math.max(10, ...points.map((h) => 100 * (h.high ?? h.lift))) } } }) });
  }

  function kernelChart(e) {
    const rows = [];
    e.cases.forEach((c, i) => e.models.forEach((m, j) => {
      const cell = e.cells[j][i];
      if (cell.sol && (known(cell.sol.with) || known(cell.sol.without)))
        rows.push({ name: c.id + (e.models.length > 1 ? ", " + m.name : ""), ...cell.sol });
    }));
    if (!rows.length) return;
    const shown = rows.slice(0, 40);
    const set = (label, key, colour) => ({ label, data: shown.map((r) => (known(r[key]) ? 100 * r[key] : null)), backgroundColor: css(colour), maxBarThickness: 14 });
    figure("Kernels at the speed of light", "share of the roofline at the best shape, best correct run; " + (e.time_kind || "") +
      (rows.length > shown.length ? "; " + (rows.length - shown.length) + " more in the cases" : ""),
      shown.map((r) => r.name + " " + percent(r.with, 0)).join(", "), 3 * shown.length,
      { type: "bar", data: { labels: shown.map((r) => r.name), datasets: [set("without skill", "without", "--without"), set("with skill", "with", "--with"), set("reference kernel", "reference", "--reference")] },
        options: options({ indexAxis: "y", x: "% of the roofline", xMore: { range: { min: 0, max: 100 } } }) });
    byId("charts").lastChild.className = "wide";
  }

  function charts() {
    state.charts.forEach((c) => c.destroy());
    state.charts = [];
    show("charts");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    const e = evaluation();
    liftChart(e.models); rateChart(e.models); tokenChart(e.models); historyChart(e); kernelChart(e);
  }

  // --- matrix ---------------------------------------------------------------------------------
  const failed = (cell) => [...cell.with].some((c) => outcome(c) !== "correct");
  function fitting() {
    const e = evaluation(), text = state.find.toLowerCase(), rows = [];
    e.cases.forEach((c, i) => {
      if (text && !c.id.toLowerCase().includes(text) && !c.suite.toLowerCase().includes(text)) return;
      if (state.failing && !e.models.some((m, j) => failed(e.cells[j][i]))) return;
      rows.push(i);
    });
    return rows;
  }

  function armMarks(label, codes) {
    const names = [...codes].map(outcome);
    const scored = names.filter((n) => n !== "not-run" && n !== "infrastructure-error");
    const marks = names.length <= 24 ? names.map(mark) : [make("small", {}, names.length + " runs")];
    return [make("small", {}, label), make("span", { class: "marks" }, marks),
      make("span", {}, scored.length ? names.filter((n) => n === "correct").length + "/" + scored.length : "–")];
  }

  function cellButton(i, j) {
    const e = evaluation(), cell = e.cells[j][i];
    const words = (codes) => { const n = [...codes].map(outcome); return n.filter((x) => x === "correct").length + " of " + n.length; };
    return make("button", { type: "button", class: "cell", "data-row": i, "data-column": j,
      "aria-label": e.cases[i].id + ", " + e.models[j].name + ": " + words(cell.without) + " correct without, " + words(cell.with) + " with the skill",
      on: { click: () => open(i, j, null) } }, armMarks("without", cell.without), armMarks("with", cell.with));
  }

  function matrix() {
    const e = evaluation(), rows = fitting(), pages = Math.max(1, Math.ceil(rows.length / ROWS));
    state.page = Math.min(state.page, pages - 1);
    const shown = rows.slice(state.page * ROWS, (state.page + 1) * ROWS);
    show("matrix", make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "case"), e.models.map((m) => make("th", { scope: "col" }, m.name)))),
      make("tbody", {}, shown.map((i) => make("tr", {}, make("th", { scope: "row" }, e.cases[i].id,
        e.cases[i].suite && e.cases[i].suite !== e.cases[i].id ? make("small", { class: "quiet" }, " " + e.cases[i].suite) : null), e.models.map((m, j) => make("td", {}, cellButton(i, j)))))));
    show("found", rows.length + " of " + e.cases.length + " cases");
    const turn = (by) => () => { state.page += by; matrix(); byId("cases").scrollIntoView(); };
    show("pages", pages > 1 ? [make("button", { type: "button", disabled: state.page === 0, on: { click: turn(-1) } }, "Previous"),
      make("span", {}, "page " + (state.page + 1) + " of " + pages), make("button", { type: "button", disabled: state.page + 1 === pages, on: { click: turn(1) } }, "Next")] : []);
    const used = new Set(e.cells.flat().flatMap((c) => [...c.with, ...c.without].map(outcome)));
    show("legend", data.outcomes.filter((o) => used.has(o)).map((o) => make("li", {}, mark(o), " " + o)));
  }

  byId("matrix").addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const cell = event.target.closest(".cell");
    if (!step || !cell) return;
    const row = cell.closest("tr"), rows = [...row.parentNode.children];
    const next = rows[rows.indexOf(row) + step[0]];
    const target = next && next.querySelectorAll(".cell")[[...row.querySelectorAll(".cell")].indexOf(cell) + step[1]];
    if (target) { target.focus(); event.preventDefault(); }
  });

  // --- details --------------------------------------------------------------------------------
  async function inflate(id) {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  const TOKENS = /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(\b\d[\w.]*)|(\b(?:alignas|auto|bool|break|case|char|class|const|constexpr|continue|do|double|else|enum|extern|false|float|for|if|inline|int|long|namespace|nullptr|operator|private|public|return|short|signed|sizeof|static|struct|switch|template|true|typename|unsigned|using|void|while|__global__|__device__|__host__|__shared__|__constant__|__restrict__|__launch_bounds__|__syncthreads|__syncwarp|blockIdx|blockDim|threadIdx|gridDim|warpSize|cudaError_t|cudaStream_t|dim3|float2|float4|half|__half|size_t)\b|#[ \t]*\w+)/g;
  function highlighted(text, line) {
    const pieces = [];
    let at = 0;
    for (const found of text.matchAll(TOKENS)) {
      if (found.index > at) pieces.push(["", text.slice(at, found.index)]);
      pieces.push([found[1] ? "c" : found[2] ? "s" : found[3] ? "n" : "k", found[0]]);
      at = found.index + found[0].length;
    }
    pieces.push(["", text.slice(at)]);
    const lines = [[]];
    for (const [kind, piece] of pieces) {
      piece.split("\n").forEach((part, i) => {
        if (i) lines.push([]);
        if (part) lines[lines.length - 1].push(kind ? make("span", { class: kind }, part) : part);
      });
    }
    return make("pre", { class: "code", tabindex: 0 }, lines.map((parts, i) =>
      make("span", { class: "line" + (i + 1 === line ? " hit" : ""), "data-line": i + 1 }, parts)));
  }

  // Prose as it is, fenced blocks highlighted.
  function answer(text) {
    const out = [];
    text.split(/^(?:```|~~~)[^\n]*$/m).forEach((part, i) => {
      const body = part.replace(/^\n/, "").replace(/\n$/, "");
      if (body.trim()) out.push(i % 2 ? highlighted(body, 0) : make("pre", { tabindex: 0 }, body));
    });
    return out.length ? out : [make("p", { class: "quiet" }, "The answer is empty.")];
  }

  function table(head, rows) {
    return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, head.map((h) => make("th", { scope: "col" }, h)))),
      make("tbody", {}, rows.map((r) => make("tr", {}, r.map((c) => make("td", {}, known(c) ? String(c) : "–")))))));
  }

  function trialView(chunk, t) {
    const text = (i) => (known(i) ? chunk.texts[i] : "");
    const folded = (title, i, openNow) => known(i) && text(i) ? make("details", { open: openNow }, make("summary", {}, title), make("pre", { tabindex: 0 }, text(i))) : null;
    const usage = t.usage, out = [];
    out.push(make("p", { class: "evidence" + (t.outcome === "correct" ? " correct" : "") }, mark(t.outcome), " ", make("strong", {}, t.outcome), t.evidence ? ": " + t.evidence : ""));
    out.push(make("p", { class: "quiet" }, [usage && known(usage.input) && whole(usage.input) + " tokens in, " + whole(usage.output) + " out", known(t.cost) && "cost " + t.cost,
      t.seconds.toFixed(1) + " s", t.turns > 1 && "turn " + t.turns + " (earlier ones are in the prompt)", known(t.seed) && "seed " + t.seed, t.model, t.asked, t.device, t.sandbox && "sandbox " + t.sandbox, t.folder].filter(Boolean).join(" · ")));
    out.push(folded("System prompt", t.system, false), folded("Prompt", t.user, true));
    if (known(t.answer)) out.push(make("h3", {}, "Answer"), answer(text(t.answer)));
    for (const [name, i] of t.files) {
      out.push(make("details", { open: t.error && t.error.file === name }, make("summary", {}, "Extracted " + name), highlighted(text(i), t.error && t.error.file === name ? t.error.line : 0)));
    }
    if (known(t.diagnostics) && text(t.diagnostics)) out.push(make("h3", {}, "Compiler output"), make("pre", { tabindex: 0 }, text(t.diagnostics)));
    if (t.kernels.length) out.push(make("h3", {}, "ptxas"), table(["kernel", "registers", "spill stores", "spill loads", "shared", "stack"], t.kernels));
    if (t.checks.length) out.push(make("h3", {}, "Checks"), table(["check", "holds", "evidence"], t.checks.map(([name, ok, why]) => [name, ok ? "yes" : "no", why])));
    if (t.shapes.length) out.push(make("details", { open: t.outcome !== "correct" }, make("summary", {}, "Shapes"), table(["shape", "outcome", "largest error", "first wrong value or finding"], t.shapes.map(([name, o, error, why]) => [name, o, known(error) ? error.toPrecision(3) : null, why]))));
    if (t.bench.length) out.push(make("h3", {}, "Times (" + (t.time_kind || "unknown kind") + ")"), table(["benchmark", "time", "of the roofline", "note"], t.bench.map(([name, ns, share, note]) => [name, time(ns), known(share) ? percent(share) : null, note])));
    return out;
  }

  const shown = { chunk: null, trials: [], at: 0 };
  function select(at) {
    if (!shown.trials.length) return;
    shown.at = (at + shown.trials.length) % shown.trials.length;
    show("body", trialView(shown.chunk, shown.trials[shown.at]));
    byId("body").scrollTop = 0;
    byId("runs").querySelectorAll("button").forEach((b, i) => b.setAttribute("aria-pressed", String(i === shown.at)));
  }

  async function open(i, j, start) {
    const e = evaluation(), cell = e.cells[j][i], dialog = byId("detail");
    show("detail-title", e.cases[i].id + " · " + e.models[j].name);
    show("runs"); show("body", make("p", { class: "quiet" }, "…"));
    if (!dialog.open) dialog.showModal();
    try {
      shown.chunk = await inflate(cell.chunk);
    } catch (error) {
      show("body", make("p", { class: "fail" }, "The details cannot be read: " + error.message));
      return;
    }
    shown.trials = shown.chunk.trials;
    let arm = "";
    show("runs", shown.trials.map((t, at) => {
      const label = t.arm !== arm ? make("span", {}, t.arm === "with_skill" ? "with skill" : "without skill") : null;
      arm = t.arm;
      return [label, make("button", { type: "button", "aria-label": t.arm + ", run " + t.run + ": " + t.outcome, on: { click: () => select(at) } }, mark(t.outcome), String(t.run))];
    }));
    const first = shown.trials.findIndex((t) => t.arm === "with_skill" && t.outcome !== "correct");
    const with_skill = shown.trials.findIndex((t) => t.arm === "with_skill");
    select(known(start) ? start : first >= 0 ? first : Math.max(0, with_skill));
    byId("body").focus();
  }

  byId("detail").addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") select(shown.at + 1);
    else if (event.key === "ArrowLeft") select(shown.at - 1);
    else return;
    event.preventDefault();
  });
  byId("close").addEventListener("click", () => byId("detail").close());
  byId("find").addEventListener("input", (event) => { state.find = event.target.value; state.page = 0; matrix(); });
  byId("failing").addEventListener("change", (event) => { state.failing = event.target.checked; state.page = 0; matrix(); });

  // --- start ----------------------------------------------------------------------------------
  function draw() {
    header();
    if (!evaluation()) { show("verdict", make("p", {}, "No evaluation.")); byId("cases").hidden = true; return; }
    verdict(); charts(); matrix();
  }
  if (data.evaluations.length > 1) {
    byId("choose").hidden = false;
    show("evaluations", data.evaluations.map((e, i) => make("option", { value: i }, e.name)));
    byId("evaluations").addEventListener("change", (event) => { state.evaluation = Number(event.target.value); state.page = 0; draw(); });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", charts);
  addEventListener("beforeprint", () => state.charts.forEach((c) => c.resize()));
  draw();
})();
