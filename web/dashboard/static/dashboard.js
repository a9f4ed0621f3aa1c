// Beside the pages, which need no script: the crosshair of time series, and keys.
"use strict";

// The values of one day beside the crosshair, as texts.
function readout(data, day) {
  const money = data.currency && {
    style: "currency",
    currency: data.currency,
    minimumFractionDigits: data.decimals,
    maximumFractionDigits: data.decimals,
  };
  const number = new Intl.NumberFormat(data.locale, money || {});
  const date = new Date(`${data.first}T00:00Z`);
  date.setUTCDate(date.getUTCDate() + day);
  return [
    new Intl.DateTimeFormat(data.locale, { dateStyle: "full", timeZone: "UTC" }).format(date),
    ...data.lines.map(({ name, values }) => `${name} ${number.format(values[day] / 10 ** data.decimals)}`),
    ...(data.notes[day] ? [data.notes[day]] : []),
  ];
}

function showReadout(box, plot, data) {
  const { idx, left } = plot.cursor;
  box.hidden = idx == null;
  if (box.hidden) return;
  box.replaceChildren(...readout(data, idx).map((text) => {
    const line = document.createElement("div");
    line.textContent = text;
    return line;
  }));
  // On the side of the crosshair that has more room.
  const x = left > plot.over.clientWidth / 2 ? left - box.offsetWidth - 10 : left + 10;
  box.style.transform = `translateX(${x}px)`;
}

// Draw the lines of the figure's SVG again, with a crosshair. The SVG keeps the gridlines, and gives colours
// and dashes, which follow the style sheet.
function drawSeries(figure) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const place = figure.querySelector(".plot");
  const lines = [...place.querySelectorAll(".line")].map((line) => getComputedStyle(line));
  const days = data.lines[0].values.length;
  const box = document.createElement("div");
  box.className = "readout";
  box.hidden = true;
  const plot = new uPlot({
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [0, 0, 0, 0],
    legend: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: {
      x: { time: false, range: [-0.5, days - 0.5] },
      y: { range: [data.low, Math.max(data.high, data.low + 1)] },
    },
    series: [{}, ...lines.map((line) => ({
      stroke: () => line.stroke,
      width: parseFloat(line.strokeWidth),
      dash: line.strokeDasharray.split(",").map(parseFloat).filter(Boolean),
      points: { show: days === 1, size: 8, fill: () => line.stroke },
    }))],
    cursor: {
      y: false,
      drag: { x: false, y: false },
      // On the nearest day; charts of the same days share it.
      move: (plot, left, top) => [left < 0 ? left : plot.valToPos(plot.posToIdx(left), "x"), top],
      sync: { key: "days", scales: ["x", null] },
    },
    hooks: { setCursor: [(plot) => showReadout(box, plot, data)] },
  }, [[...Array(days).keys()], ...data.lines.map((line) => line.values)], place);
  plot.over.append(box);
  place.classList.add("drawn");
  new ResizeObserver(() => {
    plot.setSize({ width: place.clientWidth, height: place.clientHeight });
  }).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw(false));
}

// Keys: what each does is a link, a field or a button of the page that names it.
function target(key) {
  if (key === "/") return document.querySelector("main input[type=search]");
  return document.querySelector(`[data-key="${CSS.escape(key.toLowerCase())}"]`);
}

function isTaken(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return true;
  if (document.querySelector("dialog[open]") || target.closest("input, select, textarea")) return true;
  // These scroll a wide table.
  return key.startsWith("Arrow") && target.closest(".scroll");
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus();
  const found = isTaken(event) ? null : target(event.key);
  if (!found) return;
  event.preventDefault();
  if (!found.matches("input")) return found.click();
  const menu = found.closest("details");
  if (menu) menu.open = true;
  found.focus();
});

function closeMenus(but) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (menu.contains(but)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}

addEventListener("click", (event) => closeMenus(event.target));
for (const button of document.querySelectorAll("[data-opens]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}
document.documentElement.classList.add("has-keys");
document.querySelectorAll("[data-series]").forEach(drawSeries);
