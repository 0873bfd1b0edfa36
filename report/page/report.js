// What the report does beyond showing its numbers: tables that sort, filter and copy as CSV, a tree that filters, and
// charts. Without this script all numbers are there. It asks for nothing, and writes text only as text.
"use strict";
(function () {
  // make returns an element with properties and children.
  function make(name, properties, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // NOTES are what stands in a cell beside what it says.
  const NOTES = "small, em, .finding, .note";

  // textOf returns what a cell says, without notes, and all of what is
  // cut off. The items of a list have line ends between them.
  function textOf(cell) {
    const all = cell.cloneNode(true);
    all.querySelectorAll(NOTES + ", .cut").forEach((note) => note.remove());
    all.querySelectorAll("div, li").forEach((item) => item.after("\n"));
    return all.textContent.trim().replace(/\s*\n\s*/g, "\n");
  }

  // notesOf returns the notes in a cell.
  function notesOf(cell) {
    return Array.from(cell.querySelectorAll(NOTES), (note) => note.textContent.trim()).join("\n");
  }

  // numberOf returns the number that a cell begins with, such as "~1,234 ±2%" or "<0.01%"; NaN if it has none.
  function numberOf(text) {
    const found = /^[~≥<>]?\s*(-?[\d,]+(\.\d+)?)/.exec(text);
    return found ? Number(found[1].replaceAll(",", "")) : NaN;
  }

  // field returns a field of CSV. Spreadsheets run what begins with these signs, and anyone may have written it.
  function field(text, isNumber) {
    if (!isNumber && /^[=+\-@\t\r]/.test(text)) {
      text = "'" + text;
    }
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }

  // csvOf returns what is shown of a table. Notes have columns of their own, behind the others.
  function csvOf(table) {
    const rows = Array.from(table.rows).filter((row) => !row.hidden && !row.classList.contains("gap"));
    const noted = new Set();
    for (const row of rows) {
      Array.from(row.cells, (cell, column) => notesOf(cell) && noted.add(column));
    }
    const line = (row) => {
      const isHead = row.parentNode.nodeName === "THEAD";
      const fields = Array.from(row.cells, (cell) => {
        const text = textOf(cell);
        const isNumber = cell.classList.contains("n") && !isHead;
        return field(isNumber && /^-?[\d,.]+$/.test(text) ? text.replaceAll(",", "") : text, isNumber);
      });
      for (const column of noted) {
        const cell = row.cells[column];
        fields.push(field(!cell ? "" : isHead ? textOf(cell) + ": notes" : notesOf(cell), false));
      }
      return fields.join(",");
    };
    return rows.map(line).join("\r\n") + "\r\n";
  }

  // copy puts a text on the clipboard. Pages that were opened from a disk may not use the clipboard in all browsers.
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = make("textarea", { value: text, className: "skip" });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  // copyButton returns a button that copies what csv returns.
  function copyButton(of, csv) {
    const button = make("button", { type: "button", textContent: "Copy as CSV", ariaLabel: "Copy as CSV: " + of });
    button.addEventListener("click", async () => {
      const done = await copy(csv());
      button.textContent = done ? "Copied" : "Could not copy";
      setTimeout(() => { button.textContent = "Copy as CSV"; }, 1500);
    });
    return button;
  }

  // sortBy sorts the body of a table by a column: numbers from the greatest on first, texts from A on.
  function sortBy(table, column, header) {
    const numeric = header.classList.contains("n");
    const before = header.getAttribute("aria-sort");
    const descending = before ? before === "ascending" : numeric;
    for (const other of table.tHead.rows[0].cells) {
      other.removeAttribute("aria-sort");
    }
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const keyed = Array.from(table.tBodies[0].rows, (row) => {
      const text = row.cells[column] ? textOf(row.cells[column]) : "";
      return { row, text, number: numberOf(text) };
    });
    keyed.sort((a, b) => {
      let order;
      if (numeric) {
        order = (Number.isNaN(a.number) ? -Infinity : a.number) - (Number.isNaN(b.number) ? -Infinity : b.number) || 0;
      } else {
        order = a.text.localeCompare(b.text);
      }
      return descending ? -order : order;
    });
    table.tBodies[0].append(...keyed.map((k) => k.row));
  }

  function equip(table) {
    const rows = table.tBodies[0].rows;
    const tools = make("div", { className: "tools" });
    const name = table.dataset.name;
    if (rows.length > 5 || "filter" in table.dataset) { // its rows come later
      const count = make("span", { className: "left", ariaLive: "polite" });
      const input = make("input", { type: "search", placeholder: "Filter", ariaLabel: "Filter the table of " + name });
      input.addEventListener("input", () => {
        const wanted = input.value.toLowerCase();
        let left = 0;
        for (const row of rows) {
          row.hidden = !row.textContent.toLowerCase().includes(wanted);
          left += row.hidden ? 0 : 1;
        }
        count.textContent = wanted ? left + " of " + rows.length + " rows" : "";
      });
      tools.append(count, input);
    }
    tools.append(copyButton("the table of " + name, () => csvOf(table)));
    table.parentNode.before(tools);
    Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
      if (header.textContent === "" || header.classList.contains("spark")) {
        return;
      }
      const sort = make("button", { type: "button" });
      sort.append(...header.childNodes);
      header.append(sort);
      sort.addEventListener("click", () => sortBy(table, column, header));
    });
  }

  // csvOfTree returns the rows of the tree that a filter leaves, each with its whole path.
  function csvOfTree(tree) {
    const cells = (row) => Array.from(row.children, (cell) => textOf(cell));
    const nameOf = (row) => row.querySelector("code") ? textOf(row.firstElementChild) : "";
    const lines = [cells(tree.querySelector(".row.head"))];
    for (const row of tree.querySelectorAll(".row:not(.head)")) {
      if (row.hidden) {
        continue;
      }
      const above = [];
      const holder = row.nodeName === "SUMMARY" ? row.parentNode.parentNode : row.parentNode;
      for (let d = holder.closest("details"); d; d = d.parentNode.closest("details")) {
        above.unshift(nameOf(d.firstElementChild));
      }
      const [name, ...rest] = cells(row);
      const path = [...above, nameOf(row)].join(""); // names of directories end with a slash
      lines.push([nameOf(row) === "" ? path + " (" + name + ")" : path, ...rest]);
    }
    const plain = (text, column) => column > 0 && /^[\d,]+$/.test(text) ? text.replaceAll(",", "") : field(text, column > 0 && column < 4);
    return lines.map((line) => line.map(plain).join(",")).join("\r\n") + "\r\n";
  }

  // equipTree adds a copy and a filter to the tree of paths: what has the words, what is above it, and what is below.
  function equipTree(tree) {
    const rows = Array.from(tree.querySelectorAll(".row:not(.head)"));
    const were = new Map(Array.from(tree.querySelectorAll("details"), (d) => [d, d.open]));
    const input = make("input", { type: "search", placeholder: "Filter", ariaLabel: "Filter the paths" });
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of rows) {
        row.hidden = wanted !== "";
      }
      for (const [details, open] of were) {
        details.hidden = wanted !== "";
        details.open = wanted === "" ? open : false;
      }
      if (wanted === "") {
        return;
      }
      for (const row of rows) {
        if (!row.firstElementChild.textContent.toLowerCase().includes(wanted)) {
          continue;
        }
        row.hidden = false;
        for (let d = row.parentNode.closest("details"); d; d = d.parentNode.closest("details")) {
          d.hidden = false;
          d.firstElementChild.hidden = false;
          d.open = true;
        }
      }
    });
    tree.before(make("div", { className: "tools" }, input, copyButton("the paths", () => csvOfTree(tree))));
  }

  const colours = ["#2b6cc4", "#c2571a", "#2a8a57", "#8a4fc9", "#b08a00", "#0f8c99", "#8b6b52"];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // draw draws the chart of time, in place of the bars.
  function draw(figure, data) {
    const state = { mark: false, on: data.lines.map((_, i) => i === 0) };
    const readout = make("div", { className: "readout", ariaLive: "off" });
    const place = make("div", {});
    const old = figure.querySelector("svg.bars");
    const caption = figure.querySelector("figcaption");
    const choice = make("div", { className: "choice" });
    data.lines.forEach((line, i) => {
      const box = make("input", { type: "checkbox", checked: state.on[i] });
      const swatch = make("i", {});
      swatch.style.background = colours[i % colours.length];
      box.addEventListener("change", () => { state.on[i] = box.checked; show(); });
      choice.append(make("label", {}, box, swatch, line.name));
    });
    const marks = make("input", { type: "checkbox", checked: true });
    state.mark = true;
    marks.addEventListener("change", () => { state.mark = marks.checked; show(); });
    const swatch = make("i", {});
    swatch.style.background = "var(--deny)";
    choice.append(make("label", {}, marks, swatch, data.what));
    let plot = null;
    function show() {
      if (plot) {
        plot.destroy();
      }
      const hours = (u, splits) => splits.map((at, i) => {
        const text = new Date(at * 1e3).toISOString();
        const isDay = text.slice(11, 16) === "00:00";
        return isDay || i === 0 ? text.slice(5, 10) + (isDay ? "" : "\n" + text.slice(11, 16)) : text.slice(11, 16);
      });
      const days = (u, splits) => splits.map((at) => new Date(at * 1e3).toISOString().slice(0, 10));
      const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 } };
      const series = [{}];
      const values = [data.starts];
      const add = (name, numbers, colour, dash) => {
        series.push({ label: name, stroke: colour, width: 2, dash, points: { show: numbers.length < 60 } });
        values.push(numbers);
      };
      data.lines.forEach((line, i) => {
        if (!state.on[i]) {
          return;
        }
        add(line.name, line.values, colours[i % colours.length]);
        if (state.mark) {
          add(line.name + ": " + data.what, data.marks[i].values, i === 0 ? css("--deny") : colours[i % colours.length], i === 0 ? undefined : [5, 4]);
        }
      });
      plot = new uPlot({
        width: Math.max(280, place.clientWidth), height: 240, tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), "UTC"),
        legend: { show: false }, cursor: { drag: { x: true, y: false } }, series,
        axes: [{ ...axis, values: data.step === "hour" ? hours : days, space: data.step === "hour" ? 60 : 90 }, { ...axis, size: 64 }],
        scales: { y: { range: (u, low, high) => [0, Math.max(1, high) * 1.05] } },
        hooks: { setCursor: [(u) => {
          const at = u.cursor.idx;
          readout.textContent = at === null || at === undefined ? "" :
            new Date(data.starts[at] * 1e3).toISOString().slice(0, data.step === "hour" ? 16 : 10).replace("T", " ") + "  " +
            series.slice(1).map((s, i) => s.label + " " + values[i + 1][at].toLocaleString("en-US")).join("  ·  ");
        }] },
      }, values, place);
    }
    old.after(choice, place, readout);
    old.remove();
    caption.remove();
    show();
    let width = place.clientWidth;
    addEventListener("resize", () => {
      if (place.clientWidth !== width) {
        width = place.clientWidth;
        show();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  }

  // A part that scrolls has to be reached by keys, and says what it is.
  const scrolls = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) {
        Object.assign(target, { tabIndex: 0, role: "region", ariaLabel: "Table: " + target.dataset.of });
      } else {
        target.removeAttribute("tabindex");
        target.removeAttribute("role");
        target.removeAttribute("aria-label");
      }
    }
  });
  for (const part of document.querySelectorAll(".tbl, .tree")) {
    const table = part.querySelector("table");
    part.dataset.of = table ? table.dataset.name : "paths";
    scrolls.observe(part);
  }

  document.querySelectorAll("table[data-name]").forEach(equip);
  document.querySelectorAll(".tree").forEach(equipTree);
  const data = document.getElementById("chart-data");
  if (data && typeof uPlot === "function") {
    draw(document.getElementById("chart"), JSON.parse(data.textContent));
  }

  // A link to a robots.txt opens it.
  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.nodeName === "DETAILS") {
      target.open = true;
    }
  }
  addEventListener("hashchange", openTarget);
  openTarget();

  // On paper nothing unfolds.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
