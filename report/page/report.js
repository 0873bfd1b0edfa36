// What the report does beyond showing its numbers: tables that sort, filter and copy as CSV, a tree that unfolds, and
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

  // NUMBER is a number as the page shows it: "1,234", "<0.01%", "1.5 s".
  const NUMBER = /^([<>]?)(-?[\d,]+(?:\.\d+)?) ?(%|s)?$/;

  // partsOf returns what a cell says as a plain number, and its unit; null if it is no number. Of "<0.01%" and ">99.99%"
  // the number is the middle of what they mean.
  function partsOf(text) {
    const found = NUMBER.exec(text);
    if (!found) {
      return null;
    }
    const number = found[2].replaceAll(",", "");
    const middle = { "<": number / 2, ">": (100 + Number(number)) / 2 }[found[1]];
    return { number: String(middle === undefined ? number : middle), unit: found[3] };
  }

  // field returns a field of CSV that is a text. Spreadsheets run what begins with these signs, and anyone may have
  // written it. Pasted text has cells between tabs and line ends, and semicolons separate them in many countries.
  function field(text) {
    text = text.replace(/(^|[;\t\n\r])(?=[=+\-@＝＋－＠\t\r])/g, "$1'");
    return /[",;\t\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }

  // columnsOf returns what the columns of a table have in CSV. It is the same for some rows as for all.
  function columnsOf(table) {
    const rows = Array.from(table.rows).filter((row) => row.parentNode !== table.tHead && !row.classList.contains("gap"));
    return Array.from(table.tHead.rows[0].cells, (head, i) => {
      const cells = rows.map((row) => row.cells[i]).filter(Boolean);
      const isNumeric = head.classList.contains("n");
      const numbers = isNumeric ? cells.map((cell) => partsOf(textOf(cell))).filter(Boolean) : [];
      const { unit } = numbers.find((number) => number.unit) || {};
      const name = textOf(head) + (unit ? " (" + unit + ")" : "");
      return { i, name, isNumeric, hasNotes: notesOf(head) !== "" || cells.some((cell) => notesOf(cell) !== "") };
    });
  }

  // csvOf returns what is shown of a table. A number is a plain one. Notes have columns of their own, behind the others.
  // The first column of a tree has whole paths.
  function csvOf(table, tree) {
    const columns = columnsOf(table);
    const noted = columns.filter((c) => c.hasNotes);
    const lines = [[...columns.map((c) => c.name), ...noted.map((c) => c.name + ": notes")].map(field)];
    for (const row of table.rows) {
      if (row.parentNode === table.tHead || row.hidden || row.parentNode.hidden || row.classList.contains("gap")) {
        continue;
      }
      const fields = columns.map((c) => {
        const text = tree && c.i === 0 ? tree.pathOf(row) : row.cells[c.i] ? textOf(row.cells[c.i]) : "";
        const parts = c.isNumeric ? partsOf(text) : null;
        return parts ? parts.number : c.isNumeric && !/\d/.test(text) ? "" : field(text);
      });
      lines.push([...fields, ...noted.map((c) => row.cells[c.i] ? field(notesOf(row.cells[c.i])) : "")]);
    }
    return lines.map((fields) => fields.join(",") + "\r\n").join("");
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

  // copyButton returns a button with a label that copies what text returns.
  function copyButton(label, of, text) {
    const button = make("button", { type: "button" });
    const say = (textContent) => Object.assign(button, { textContent, ariaLabel: textContent + ": " + of });
    say(label);
    button.addEventListener("click", async () => {
      say(await copy(text()) ? "Copied" : "Could not copy");
      setTimeout(() => say(label), 1500);
    });
    return button;
  }

  // inOrder returns rows by a column. Those without a number, and gaps, are last.
  function inOrder(rows, by) {
    const keyed = rows.map((row) => {
      const text = row.cells[by.column] ? textOf(row.cells[by.column]) : "";
      const parts = by.numeric ? partsOf(text) : null;
      const number = parts ? Number(parts.number) : NaN;
      return { row, text, number, last: /\b(gap|rest)\b/.test(row.className) || by.numeric && Number.isNaN(number) };
    });
    keyed.sort((a, b) => {
      if (a.last || b.last) {
        return a.last - b.last;
      }
      const order = by.numeric ? a.number - b.number : a.text.localeCompare(b.text);
      return by.descending ? -order : order;
    });
    return keyed.map((k) => k.row);
  }

  // rove lets the arrow keys go from one to another of some elements, of which the key Tab reaches one.
  function rove(elements, keys) {
    elements.forEach((element, i) => {
      element.tabIndex = i === 0 ? 0 : -1;
      element.addEventListener("focus", () => elements.forEach((other) => { other.tabIndex = other === element ? 0 : -1; }));
      element.addEventListener("keydown", (event) => {
        const to = { [keys[0]]: i - 1, [keys[1]]: i + 1, Home: 0, End: elements.length - 1 }[event.key];
        if (to !== undefined && elements[to]) {
          event.preventDefault();
          elements[to].focus();
        }
      });
    });
  }

  // flat is the rows of a table that is no tree: how they are put in order, and filtered.
  const flat = (table) => ({
    sort: (by) => table.tBodies[0].append(...inOrder(Array.from(table.tBodies[0].rows), by)),
    filter(wanted) {
      let left = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        left += row.hidden ? 0 : 1;
      }
      return left;
    },
  });

  // treeOf is the rows of a tree, of which each has the class i1, i2 and so on. They unfold.
  function treeOf(table) {
    const body = table.tBodies[0];
    const nodes = new Map(); // by row
    const way = [];          // the last node of each depth
    for (const row of body.rows) {
      const depth = Number(/\bi(\d+)\b/.exec(row.className)[1]);
      const node = { row, depth, above: way[depth - 1], below: [], open: depth < 3, hit: false };
      way.length = depth;
      way[depth] = node;
      nodes.set(row, node);
      row.setAttribute("aria-level", depth);
      if (node.above) {
        node.above.below.push(node);
      }
    }
    const all = Array.from(nodes.values());
    const roots = all.filter((node) => !node.above);
    const pathOf = (row) => {
      const { above } = nodes.get(row);
      const before = above ? pathOf(above.row) : "";
      const name = textOf(row.cells[0]);
      return row.classList.contains("rest") ? (before + " (" + name + ")").trim() : before + name;
    };
    const isShown = (node) => !node.row.hidden && !node.row.classList.contains("folded");
    let current = roots[0];
    const hold = (node) => {
      current.row.tabIndex = -1;
      current = node;
      current.row.tabIndex = 0;
    };
    function show() {
      const walk = (node, folded) => {
        node.row.classList.toggle("folded", folded);
        if (node.below.length > 0) {
          node.row.setAttribute("aria-expanded", node.open);
        }
        node.below.forEach((child) => walk(child, folded || !node.open));
      };
      roots.forEach((node) => walk(node, false));
      if (current && !isShown(current)) {
        hold(all.find(isShown) || current);
      }
    }
    function open(node, isOpen) {
      node.open = isOpen;
      show();
    }
    const keys = {
      ArrowDown: (shown, i) => hold(shown[Math.min(i + 1, shown.length - 1)]),
      ArrowUp: (shown, i) => hold(shown[Math.max(i - 1, 0)]),
      Home: (shown) => hold(shown[0]),
      End: (shown) => hold(shown[shown.length - 1]),
      ArrowRight: (shown, i) => current.below.length > 0 && (current.open ? hold(shown[i + 1] || current) : open(current, true)),
      ArrowLeft: () => current.below.length > 0 && current.open ? open(current, false) : current.above && hold(current.above),
      Enter: () => current.below.length > 0 && open(current, !current.open),
    };
    keys[" "] = keys.Enter;
    body.addEventListener("keydown", (event) => {
      if (!nodes.has(event.target) || !keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) {
        return;
      }
      event.preventDefault();
      hold(nodes.get(event.target));
      const shown = Array.from(body.rows, (row) => nodes.get(row)).filter(isShown);
      keys[event.key](shown, shown.indexOf(current));
      current.row.focus();
    });
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      const node = nodes.get(row);
      if (node.below.length > 0 && row.cells[0].contains(event.target)) {
        hold(node);
        open(node, !node.open);
      }
    });
    if (roots.length > 0) {
      table.setAttribute("role", "treegrid");
      all.forEach((node) => { node.row.tabIndex = -1; });
      hold(roots[0]);
      show();
    }
    return {
      pathOf,
      sort(by) {
        const put = (siblings) => inOrder(siblings.map((node) => node.row), by).forEach((row) => {
          body.append(row);
          put(nodes.get(row).below);
        });
        put(roots);
      },
      // filter leaves the rows with the words, those above them, and folded those below.
      filter(wanted) {
        let left = 0;
        const walk = (node, within) => {
          node.hit = pathOf(node.row).toLowerCase().includes(wanted);
          left += node.hit ? 1 : 0;
          let found = false; // below it, and not for what it has itself
          for (const child of node.below) {
            found = walk(child, within || node.hit) || found;
          }
          node.row.hidden = !(within || node.hit || found);
          if (wanted !== "") {
            node.was = node.was === undefined ? node.open : node.was;
            node.open = found && !node.hit;
          } else if (node.was !== undefined) {
            node.open = node.was;
            node.was = undefined;
          }
          return node.hit || found;
        };
        roots.forEach((node) => walk(node, false));
        show();
        return left;
      },
    };
  }

  // SHOWN is how many rows of a table are in sight until somebody asks for the others.
  const SHOWN = 30;

  // shortOf returns a function that has the first rows of a table in sight, and says how many others there are.
  function shortOf(table) {
    const button = make("button", { type: "button", className: "rows", hidden: true });
    let all = false;
    const show = () => {
      const rows = Array.from(table.tBodies[0].rows).filter((row) => !row.hidden);
      rows.forEach((row, i) => row.classList.toggle("beyond", !all && i >= SHOWN));
      button.hidden = rows.length <= SHOWN;
      button.textContent = all ? "Only the first " + SHOWN : (rows.length - SHOWN).toLocaleString("en-US") + " more";
    };
    button.addEventListener("click", () => {
      all = !all;
      show();
    });
    table.parentNode.after(button);
    return show;
  }

  // equip adds what a table does: it sorts, filters, and is copied. Who changes its rows sends it the event "rows".
  function equip(table) {
    const tree = table.classList.contains("tree") ? treeOf(table) : null;
    const rows = tree || flat(table);
    const tools = make("div", { className: "tools" }, make("span", { className: "sideways", hidden: true, textContent: "Scroll the table sideways to see all of it \u2192" }));
    const name = table.dataset.name;
    const input = make("input", { type: "search", placeholder: "Filter", ariaLabel: "Filter the table of " + name + (tree ? " by path" : "") });
    const count = make("span", { className: "left", ariaLive: "polite" });
    const shorten = tree || !table.parentNode.matches(".tbl:not(.code)") ? () => {} : shortOf(table);
    let sorted = null;
    const filter = () => {
      const left = rows.filter(input.value.toLowerCase());
      shorten();
      if (table.tFoot) { // its sums are not those of the rows that are left
        table.tFoot.hidden = input.value !== "";
      }
      count.textContent = input.value === "" ? "" : left + " of " + table.tBodies[0].rows.length + " rows";
    };
    if (table.tBodies[0].rows.length > 5 || "filter" in table.dataset) { // its rows come later
      input.addEventListener("input", filter);
      tools.append(count, input);
    }
    const copying = copyButton("Copy as CSV", "the table of " + name, () => csvOf(table, tree));
    copying.title = "The arrow keys go to the columns, which sort";
    tools.append(copying);
    table.parentNode.before(tools);
    table.addEventListener("rows", () => {
      if (sorted) {
        rows.sort(sorted);
      }
      filter();
    });
    const buttons = [copying];
    Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
      if (header.textContent === "" || header.classList.contains("spark")) {
        return;
      }
      const button = make("button", { type: "button", title: "Sort; the arrow keys go to the other columns, and to the copy" });
      button.append(...header.childNodes);
      header.append(button);
      buttons.push(button);
      button.addEventListener("click", () => {
        const numeric = header.classList.contains("n");
        const before = header.getAttribute("aria-sort");
        sorted = { column, numeric, descending: before ? before === "ascending" : numeric };
        for (const other of table.tHead.rows[0].cells) {
          other.removeAttribute("aria-sort");
        }
        header.setAttribute("aria-sort", sorted.descending ? "descending" : "ascending");
        rows.sort(sorted);
        shorten();
      });
    });
    rove(buttons, ["ArrowLeft", "ArrowRight"]);
    shorten();
  }

  const colours = ["#2b6cc4", "#c2571a", "#2a8a57", "#8a4fc9", "#b08a00", "#0f8c99", "#8b6b52"];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // unpack returns the numbers of a line, in which stretches of 0 are one negative number.
  const unpack = (values) => values.flatMap((n) => n < 0 ? Array(-n).fill(0) : [n]);

  // BESIDE is how many lines can be chosen at once; one unfolds the others.
  const BESIDE = 7;

  // draw draws the chart of time, in place of the bars.
  function draw(figure, data) {
    for (const line of [...data.lines, ...data.marks]) {
      line.values = unpack(line.values);
    }
    const state = { mark: false, on: data.lines.map((_, i) => data.drawn.includes(i)) };
    const colourOf = (i) => i === 0 ? css("--accent") : i < BESIDE ? colours[i % colours.length] : `hsl(${i * 137 % 360} 55% 45%)`;
    const readout = make("div", { className: "readout", ariaLive: "off" });
    const place = make("div", {});
    const old = figure.querySelector(".plot");
    const choice = make("div", { className: "choice", role: "toolbar", ariaLabel: "Lines of the chart; the arrow keys go from one to another" });
    const more = make("div", {});
    const others = make("details", {}, make("summary", { textContent: "More crawlers: " + (data.lines.length - BESIDE) }), more);
    data.lines.forEach((line, i) => {
      const box = make("input", { type: "checkbox", checked: state.on[i] });
      const swatch = make("i", {});
      swatch.style.background = i === 0 ? "var(--accent)" : colourOf(i);
      box.addEventListener("change", () => { state.on[i] = box.checked; show(); });
      (i < BESIDE ? choice : more).append(make("label", {}, box, swatch, line.name));
    });
    const marks = make("input", { type: "checkbox", checked: true });
    state.mark = true;
    marks.addEventListener("change", () => { state.mark = marks.checked; show(); });
    const swatch = make("i", {});
    swatch.style.background = "var(--deny)";
    choice.append(make("label", {}, marks, swatch, data.what));
    if (data.changes.length > 0) {
      const line = make("i", {});
      line.style.background = "var(--warn)";
      choice.append(make("span", {}, line, "robots.txt changed"));
    }
    if (data.lines.length > BESIDE) {
      choice.append(others);
    }
    rove(Array.from(choice.querySelectorAll(":scope > label > input")), ["ArrowLeft", "ArrowRight"]);
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
        add(line.name, line.values, colourOf(i));
        if (state.mark && (i === 0 || data.marks[i].values.some((n) => n > 0))) {
          add(line.name + ": " + data.what, data.marks[i].values, i === 0 ? css("--deny") : colourOf(i), i === 0 ? undefined : [5, 4]);
        }
      });
      plot = new uPlot({
        width: Math.max(280, place.clientWidth), height: 240, tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), "UTC"),
        padding: [null, 36, null, null], // or the last time is cut off
        legend: { show: false }, cursor: { drag: { x: true, y: false } }, series,
        axes: [{ ...axis, values: data.step === "hour" ? hours : days, space: data.step === "hour" ? 60 : 90 }, { ...axis, size: 64, label: "requests", labelSize: 22 }],
        scales: { y: { range: (u, low, high) => [0, Math.max(1, high) * 1.05] } },
        hooks: { draw: [(u) => {
          u.ctx.save();
          u.ctx.strokeStyle = css("--warn");
          u.ctx.lineWidth = 2 * devicePixelRatio;
          u.ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
          data.changes.forEach((at) => {
            const x = Math.round(u.valToPos(at, "x", true));
            if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) {
              u.ctx.beginPath();
              u.ctx.moveTo(x, u.bbox.top);
              u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
              u.ctx.stroke();
            }
          });
          u.ctx.restore();
        }], setCursor: [(u) => {
          const at = u.cursor.idx;
          readout.textContent = at === null || at === undefined ? "" :
            new Date(data.starts[at] * 1e3).toISOString().slice(0, data.step === "hour" ? 16 : 10).replace("T", " ") + "  " +
            series.slice(1).map((s, i) => s.label + " " + values[i + 1][at].toLocaleString("en-US")).join("  ·  ");
        }] },
      }, values, place);
    }
    old.after(choice, place, readout);
    old.remove();
    document.querySelector("#time .keys").remove(); // the choice has them
    figure.querySelector(".times").remove();
    show();
    let width = place.clientWidth;
    addEventListener("resize", () => {
      if (place.clientWidth !== width) {
        width = place.clientWidth;
        show();
      }
    });
    for (const media of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(media).addEventListener("change", show);
    }
  }

  // A part that scrolls has to be reached by keys, and says what it is, and that there is more beside what is in sight.
  const scrolls = new ResizeObserver((entries) => {
    for (const box of new Set(entries.map(({ target }) => target.closest("div")))) {
      if (!box.isConnected) {
        continue; // another answer took its place
      }
      const isWide = box.scrollWidth > box.clientWidth;
      box.previousElementSibling.querySelector(".sideways").hidden = !isWide;
      if (!box.classList.contains("tbl")) {
        continue; // it has its name
      }
      if (isWide || box.scrollHeight > box.clientHeight) {
        Object.assign(box, { tabIndex: 0, role: "region", ariaLabel: "Table: " + box.dataset.of });
      } else {
        box.removeAttribute("tabindex");
        box.removeAttribute("role");
        box.removeAttribute("aria-label");
      }
    }
  });
  const add = (table) => {
    table.parentNode.dataset.of = table.dataset.name;
    equip(table);
    scrolls.observe(table.parentNode);
    scrolls.observe(table);
  };
  document.querySelectorAll("table[data-name]").forEach(add);
  addEventListener("table", (event) => add(event.target)); // one that was not there before
  for (const lines of document.querySelectorAll("pre[data-name]")) {
    lines.before(make("div", { className: "tools" }, copyButton("Copy", lines.dataset.name, () => lines.textContent)));
  }
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
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = document.getElementById("whole").checked ? Array.from(document.querySelectorAll("details:not([open])")) : [];
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => closed.splice(0).forEach((details) => { details.open = false; }));
})();
