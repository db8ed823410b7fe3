// Draws a room's chart: the limit as a level line, active users rising to it, free slots falling,
// queued users growing.
"use strict";
(() => {
  const box = document.getElementById("chart");
  const plotBox = document.getElementById("plot");
  const room = document.querySelector("main [data-room]").dataset.room;
  const seconds = Number(box.dataset.seconds);
  const live = seconds <= 300; // a shorter range grows each second, a longer one is fetched anew
  const fetchEvery = live ? 60000 : seconds <= 3600 ? 10000 : 60000;
  const rightScaleFrom = 4; // queued users beyond this multiple of the limit get a scale of their own
  const shortest = 60; // seconds
  const number = new Intl.NumberFormat("en");
  // In the order of drawing: the limit comes last, so that users at the limit do not cover it.
  const lines = [
    { key: "waiting", text: "Queued users", color: "--waiting", width: 2, fill: "--waiting-fill" },
    { key: "free", text: "Free slots", color: "--free", width: 2, dash: [2, 3] },
    { key: "active", text: "Active users", color: "--active", width: 2 },
    { key: "limit", text: "Limit", color: "--limit", dash: [7, 5], width: 2 },
  ];
  const column = (key) => 1 + lines.findIndex((line) => line.key === key);
  const hiddenLines = new Set();
  let plot = null;
  let data = null; // columns: times, then one for each line
  let now = 0; // the newest time that the server told
  let offset = 0; // server's clock minus ours, in seconds
  let latest = null; // the newest counts from the stream
  let rightScale = false;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A gap in the measurements stays a gap in the lines.
  function columns(series) {
    const out = [[], [], [], [], []];
    series.at.forEach((at, i) => {
      if (i > 0 && at - series.at[i - 1] > 3 * series.step + 1) {
        out[0].push(series.at[i - 1] + series.step);
        for (let c = 1; c < 5; c++) out[c].push(null);
      }
      out[0].push(at);
      lines.forEach((line, c) => out[c + 1].push(series[line.key][i]));
    });
    return out;
  }

  // A young history fills the chart instead of a corner of it.
  const begin = () => Math.max(now - seconds, Math.min(data[0][0] ?? now, now - shortest));

  const peak = (values) => values.reduce((most, value) => Math.max(most, value ?? 0), 0);

  function wantsRightScale() {
    return peak(data[column("waiting")]) > rightScaleFrom * Math.max(1, peak(data[column("limit")]));
  }

  const narrow = matchMedia("(max-width: 40rem)");
  const clock = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");
  const mark = (at) => (live && !narrow.matches ? clock(at) : clock(at).slice(0, 5));

  function axis(scale, side) {
    return {
      scale,
      side,
      stroke: style("--muted"),
      grid: { show: side !== 1, stroke: style("--rule"), width: 1 },
      ticks: { show: false },
      size: 48,
      font: "12px system-ui, sans-serif",
      values: (_, values) => values.map((v) => (Number.isInteger(v) ? number.format(v) : "")),
    };
  }

  function options() {
    const top = { range: (_, low, high) => [0, Math.max(4, Math.ceil(high * 1.08))] };
    const axes = [
      {
        stroke: style("--muted"), grid: { show: false }, ticks: { show: false }, size: 32,
        space: narrow.matches ? 44 : 80, font: "12px system-ui, sans-serif",
        values: (_, values) => values.map(mark),
      },
      axis("users", 3),
    ];
    if (rightScale) axes.push(axis("queued", 1));
    return {
      width: plotBox.clientWidth,
      height: plotHeight(),
      padding: [12, rightScale ? 0 : 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { x: { range: () => [begin(), now] }, users: top, queued: top },
      axes,
      series: [{}].concat(lines.map((line) => ({
        scale: line.key === "waiting" && rightScale ? "queued" : "users",
        stroke: style(line.color),
        fill: line.fill ? style(line.fill) : undefined,
        width: line.width,
        dash: line.dash,
        points: { show: false },
        show: !hiddenLines.has(line.key),
        paths: line.key === "limit" ? uPlot.paths.stepped({ align: 1 }) : undefined,
      }))),
      hooks: { setCursor: [showValues] },
    };
  }

  const plotHeight = () => (narrow.matches ? 240 : 340);

  function draw() {
    plot?.destroy();
    rightScale = wantsRightScale();
    plot = new uPlot(options(), data, plotBox);
    showValues();
  }

  // The keys show the values under the pointer, else the newest ones.
  function showValues() {
    const at = plot?.cursor.idx ?? data[0].length - 1;
    lines.forEach((line, c) => {
      const value = data[c + 1][at];
      document.getElementById(`key-${line.key}`).textContent = value == null ? "–" : number.format(value);
    });
    document.getElementById("key-time").textContent = plot?.cursor.idx == null ? "" : clock(data[0][at]);
  }

  function makeKeys() {
    const keys = document.getElementById("keys");
    for (const line of lines.toReversed()) {
      const key = document.createElement("button");
      key.type = "button";
      key.className = `key key-${line.key}`;
      key.setAttribute("aria-pressed", "true");
      const value = document.createElement("b");
      value.id = `key-${line.key}`;
      key.append(line.text, " ", value);
      key.addEventListener("click", () => toggle(line, key));
      keys.append(key);
    }
    const time = document.createElement("span");
    time.id = "key-time";
    time.className = "key-time";
    keys.append(time);
  }

  function toggle(line, key) {
    const hide = !hiddenLines.has(line.key);
    if (hide) hiddenLines.add(line.key);
    else hiddenLines.delete(line.key);
    key.setAttribute("aria-pressed", String(!hide));
    plot?.setSeries(lines.indexOf(line) + 1, { show: !hide });
  }

  async function load() {
    const answer = await fetch(box.dataset.source);
    if (!answer.ok) return;
    const series = await answer.json();
    now = series.to;
    offset = now - Date.now() / 1000;
    data = columns(series);
    box.hidden = false;
    if (plot && rightScale === wantsRightScale()) plot.setData(data);
    else draw();
    showValues();
  }

  // Nothing arrives while nothing changes, so the newest counts go on until others come.
  function grow() {
    if (!live || !data || !latest || document.hidden) return;
    if (document.getElementById("link").dataset.link !== "live") return;
    now = Math.floor(Date.now() / 1000 + offset);
    if (now <= (data[0].at(-1) ?? 0)) return;
    data[0].push(now);
    lines.forEach((line, c) => data[c + 1].push(latest[line.key]));
    while (data[0][0] < now - seconds) data.forEach((values) => values.shift());
    if (rightScale === wantsRightScale()) plot.setData(data);
    else draw();
    showValues();
  }

  document.addEventListener("rooms", (event) => {
    latest = event.detail.rooms.find((line) => line.id === room) ?? latest;
  });
  const quietly = () => load().catch(() => {}); // the server is away; the next try comes soon
  makeKeys();
  quietly();
  setInterval(() => document.hidden || quietly(), fetchEvery);
  setInterval(grow, 1000);
  document.addEventListener("visibilitychange", () => document.hidden || quietly());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => data && draw());
  narrow.addEventListener("change", () => data && draw());
  new ResizeObserver(() => plot?.setSize({ width: plotBox.clientWidth, height: plotHeight() })).observe(plotBox);
})();
