// What the report does beyond showing its numbers: tables that sort, filter and copy as CSV, a tree that unfolds, and
// charts. Without this script all numbers are there. It asks for nothing, and writes text only as text.
"use strict";
(function () {
  const jsonOf = (id) => JSON.parse(document.getElementById(id)?.textContent || "[]");
  const crawlers = jsonOf("crawler-data");
  const crawlerNames = new Set(crawlers.map((crawler) => crawler.name));

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

  // numberOf returns what a cell says as a plain number, and its unit. Of what is shown shorter it has the number beside it.
  const numberOf = (cell) => cell.dataset.n ? { number: cell.dataset.n } : partsOf(textOf(cell));

  // partsOf returns a text as a plain number, and its unit; null if it is no number. Of "<0.01%" and ">99.99%"
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
      const numbers = isNumeric ? cells.map(numberOf).filter(Boolean) : [];
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
        const parts = c.isNumeric && row.cells[c.i] ? numberOf(row.cells[c.i]) : null;
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

  // saveButton returns a button that offers what text returns as a file.
  function saveButton(of, text) {
    const button = make("button", { type: "button", textContent: "Save", ariaLabel: "Save as CSV: " + of, title: "Save as CSV" });
    button.addEventListener("click", () => {
      const link = make("a", { href: URL.createObjectURL(new Blob([text()], { type: "text/csv" })), download: of.replace(/[^a-z0-9]+/gi, "-").slice(0, 80) + ".csv" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
    });
    return button;
  }

  // inOrder returns rows by a column. Those without a number, and gaps, are last.
  function inOrder(rows, by) {
    const keyed = rows.map((row) => {
      const text = row.cells[by.column] ? textOf(row.cells[by.column]) : "";
      const parts = by.numeric && row.cells[by.column] ? numberOf(row.cells[by.column]) : null;
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
    let chosen = roots.length > 3 ? roots[0] : null; // of many sites one is in sight
    const sites = make("select", { ariaLabel: "The site whose paths are shown" }, ...roots.map((node) => make("option", { textContent: textOf(node.row.cells[0]) })), make("option", { textContent: "all sites" }));
    sites.addEventListener("change", () => {
      chosen = roots[sites.selectedIndex] || null;
      show();
    });
    const hold = (node) => {
      current.row.tabIndex = -1;
      current = node;
      current.row.tabIndex = 0;
    };
    let isFiltered = false;
    function show() {
      const walk = (node, folded) => {
        node.row.classList.toggle("folded", folded);
        if (node.below.length > 0) {
          node.row.setAttribute("aria-expanded", node.open);
        }
        node.below.forEach((child) => walk(child, folded || !node.open));
      };
      roots.forEach((node) => walk(node, Boolean(chosen) && !isFiltered && node !== chosen));
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
      tools: roots.length > 3 ? [make("label", {}, "Site ", sites)] : [],
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
        isFiltered = wanted !== "";
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
      const all = table.tBodies[0].rows.length;
      count.textContent = input.value === "" ? "" : left === 0 ? "No row matches" : left + " of " + all + " rows";
    };
    if (tree) {
      tools.append(...tree.tools);
    }
    if (table.tBodies[0].rows.length > 5 || "filter" in table.dataset) { // its rows come later
      input.addEventListener("input", filter);
      tools.append(count, input);
    }
    const copying = copyButton("Copy as CSV", "the table of " + name, () => csvOf(table, tree));
    copying.title = "The arrow keys go to the columns, which sort";
    const saving = saveButton(name, () => csvOf(table, tree));
    tools.append(copying, saving);
    table.parentNode.before(tools);
    table.addEventListener("rows", () => {
      if (sorted) {
        rows.sort(sorted);
      }
      filter();
    });
    const buttons = [saving, copying];
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
    linkRows(table);
    shorten();
  }

  const NAMED = new RegExp("(?<![\\w./-])(" + Array.from(crawlerNames).sort((a, b) => b.length - a.length).map((name) => name.replace(/[^\w ]/g, "\\$&")).join("|") + ")(?![\\w/-])");

  // linkNames makes links of the crawlers that texts name, and returns them.
  function linkNames(texts) {
    const links = [];
    for (const text of crawlerNames.size > 0 ? texts : []) {
      for (const node of Array.from(text.childNodes).filter((child) => child.nodeType === Node.TEXT_NODE)) {
        const pieces = node.textContent.split(NAMED).map((piece, i) => i % 2 === 1 ? make("a", { href: "#crawler=" + encodeURIComponent(piece), textContent: piece }) : piece);
        node.replaceWith(...pieces);
        links.push(...pieces.filter((piece) => typeof piece !== "string"));
      }
    }
    return links;
  }

  // linkRows makes links of the crawlers and URLs of a table. The arrow keys go from one to another.
  function linkRows(table) {
    const links = linkNames(table.querySelectorAll("#impostors td > div")); // those of sitemaps have a table of their own
    for (const cell of table.querySelectorAll(":is(tbody, tfoot) > tr > :is(th, td:not(.n))")) {
      const text = textOf(cell);
      const href = crawlerNames.has(text) ? "#crawler=" + encodeURIComponent(text) : cell.classList.contains("url") && /^https?:\/\/[^\s\\]+$/.test(text) ? text : "";
      if (href === "" || cell.querySelector("a, details, div")) {
        continue;
      }
      const link = make("a", { href });
      if (href !== text) {
        link.append(cell.firstChild);
      } else {
        Object.assign(link, { rel: "noopener noreferrer nofollow", target: "_blank" });
        link.append(...cell.childNodes);
      }
      cell.prepend(link);
      links.push(link);
    }
    rove(links, ["ArrowUp", "ArrowDown"]);
  }

  const COLOURS = 6; // of crawlers in the style, which are --line1 and so on
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // unpack returns the numbers of a line, in which stretches of 0 are one negative number.
  const unpack = (values) => values.flatMap((n) => n < 0 ? Array(-n).fill(0) : [n]);

  // BESIDE is how many lines can be chosen at once; one unfolds the others.
  const BESIDE = 6;

  const timeOf = (at, step) => new Date(at * 1e3).toISOString().slice(0, { hour: 16, second: 19 }[step] || 10).replace("T", " ");

  // numbersOf returns a line with all its numbers, by stretch.
  function numbersOf(line) {
    const [values, errors, marks, moved, server] = ["values", "errors", "marks", "moved", "server"].map((kind) => unpack(line[kind]));
    const client = errors.map((n, i) => n - server[i]);
    return { name: line.name, values, errors, marks, moved, client, server, rest: values.map((n, i) => n - errors[i] - moved[i]) };
  }

  // draw draws the chart of time, in place of the bars: all requests, and their errors, as steps, and crawlers by an axis of their own. A chart
  // of one crawler has its errors by class.
  function draw(figure, data) {
    const classes = data.isOne ? { moved: ["3xx", "--quiet"], client: ["4xx", "--line3"], server: ["5xx", "--deny"] } : { errors: ["errors", "--deny"] };
    const kinds = { values: ["", "--accent"], ...data.errors && classes, marks: [data.what, "--warn"] };
    data.lines = data.lines.map(numbersOf);
    const on = data.lines.map((_, i) => data.drawn.includes(i));
    const isShown = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, kind !== "marks" || !data.errors]));
    const nameOf = (i) => i === 0 ? "--accent" : i <= COLOURS ? "--line" + i : "";
    const colourOf = (i) => nameOf(i) ? css(nameOf(i)) : `hsl(${i * 137 % 360} 55% 45%)`;
    const tip = make("div", { className: "tip", hidden: true });
    const place = make("div", { className: "place" });
    const choice = make("div", { className: "choice", role: "toolbar", ariaLabel: "Lines of the chart; the arrow keys go from one to another" });
    const more = make("div", {});
    const option = (name, colour, checked, change) => {
      const box = make("input", { type: "checkbox", checked });
      const swatch = make("i", {});
      swatch.style.background = colour;
      box.addEventListener("change", () => { change(box.checked); show(); });
      return make("label", {}, box, swatch, name);
    };
    data.lines.forEach((line, i) => {
      (i < BESIDE ? choice : more).append(option(line.name, nameOf(i) ? "var(" + nameOf(i) + ")" : colourOf(i), on[i], (checked) => { on[i] = checked; }));
    });
    Object.entries(kinds).slice(1).forEach(([kind, [what, colour]]) => {
      choice.append(option(what, "var(" + colour + ")", isShown[kind], (checked) => { isShown[kind] = checked; }));
    });
    if (data.lines.length > BESIDE) {
      choice.append(make("details", {}, make("summary", { textContent: "More crawlers: " + (data.lines.length - BESIDE) }), more));
    }
    rove(Array.from(choice.querySelectorAll(":scope > label > input")), ["ArrowLeft", "ArrowRight"]);
    let plot = null;
    function show() {
      if (plot) {
        plot.destroy();
      }
      const spread = (data.end - data.starts[0]) / 86400;
      const times = (u, splits) => splits.map((at) => {
        const text = new Date(at * 1e3).toISOString();
        return text.slice(11, 16) !== "00:00" ? text.slice(11, 16) : spread > 300 ? text.slice(0, 10) : new Date(at * 1e3).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
      });
      const axis = { stroke: css("--quiet"), font: "12px system-ui", grid: { stroke: css("--line"), width: 1 }, ticks: { show: false } };
      const series = [{}];
      const values = [[...data.starts, data.end]];
      const add = (label, numbers, stroke, scale, dash) => {
        series.push({ label, stroke, scale, dash, width: 1.5, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), fill: label === data.lines[0].name ? stroke + "30" : undefined });
        values.push([...numbers, numbers.at(-1)]);
      };
      data.lines.forEach((line, i) => {
        Object.entries(kinds).forEach(([kind, [what, colour]], n) => {
          const isAny = kind === "values" || i === 0 || on.filter((is, n) => is && n > 0).length === 1 && line[kind].some((n) => n > 0); // of several crawlers they would be too many lines
          if (on[i] && isShown[kind] && isAny) {
            add(i === 0 && n > 0 ? what : line.name + (n > 0 ? ": " + what : ""), line[kind], i > 0 ? colourOf(i) : css(colour), i > 0 ? "crawlers" : "y", i > 0 && n > 0 ? [5, 4] : undefined);
          }
        });
      });
      const byCrawlers = series.some((s) => s.scale === "crawlers");
      const range = (u, low, high) => [0, Math.max(1, high) * 1.05];
      const stroked = (u, at, colour) => {
        const x = Math.round(u.valToPos(at, "x", true));
        u.ctx.strokeStyle = colour;
        u.ctx.lineWidth = 2 * devicePixelRatio;
        u.ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top);
        u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
      };
      const band = (u, from, to, colour) => {
        const left = Math.max(u.bbox.left, u.valToPos(from, "x", true));
        const right = Math.min(u.bbox.left + u.bbox.width, u.valToPos(to, "x", true));
        u.ctx.fillStyle = colour;
        u.ctx.fillRect(left, u.bbox.top, Math.max(2, right - left), u.bbox.height);
        return left;
      };
      const painted = (paint) => (u) => {
        u.ctx.save();
        paint(u);
        u.ctx.restore();
      };
      const drawSpans = painted((u) => {
        const taken = [];
        data.spans.forEach((span) => {
          const left = band(u, span.from, span.to, css("--deny") + "1c");
          const size = 15 * devicePixelRatio;
          const row = taken.filter((x) => Math.abs(x - left) < size).length; // numbers that begin together stand below one another
          taken.push(left);
          u.ctx.fillStyle = css("--deny");
          u.ctx.font = "600 " + 12 * devicePixelRatio + "px system-ui";
          u.ctx.textAlign = "left";
          u.ctx.textBaseline = "top";
          u.ctx.fillText(span.no, left + 2 * devicePixelRatio, u.bbox.top + row * size);
        });
      });
      const drawOver = painted((u) => {
        data.cut.forEach((i) => band(u, data.starts[i], data.starts[i + 1] || data.end, css("--cut")));
        data.changes.forEach((at) => stroked(u, at, css("--warn")));
      });
      plot = new uPlot({
        width: Math.max(260, place.clientWidth), height: 220, tzDate: (ts) => uPlot.tzDate(new Date(ts * 1e3), "UTC"),
        padding: [8, byCrawlers ? 0 : 24, 0, 0], legend: { show: false }, cursor: { y: false, points: { show: false }, drag: { x: true, y: false } }, series,
        axes: [
          { ...axis, values: times, space: 55, size: 26 }, { ...axis, size: 62, label: data.lines[0].name, labelSize: 18 },
          { ...axis, scale: "crawlers", side: 1, size: 56, label: "crawlers", labelSize: 18, grid: { show: false }, show: byCrawlers },
        ],
        scales: { y: { range }, crawlers: { range } },
        hooks: { drawClear: [drawSpans], draw: [drawOver], setCursor: [(u) => {
          const at = data.starts.findLastIndex((start) => start <= u.posToVal(u.cursor.left, "x"));
          tip.hidden = !(u.cursor.left >= 0) || at < 0;
          if (tip.hidden) {
            return;
          }
          const rows = series.slice(1).map((s, i) => make("div", {}, Object.assign(make("i", {}), { ariaHidden: "true" }), s.label + " ", make("b", { textContent: values[i + 1][at].toLocaleString("en-US") })));
          rows.forEach((row, i) => { row.firstChild.style.background = series[i + 1].stroke; });
          const until = data.starts[at + 1] || data.end;
          const found = data.spans.filter((span) => span.from < until && span.to >= data.starts[at]).map((span) => span.no);
          tip.replaceChildren(make("div", { textContent: timeOf(data.starts[at], data.step) + (data.cut.includes(at) ? ", not whole in the log" : "") }), ...rows);
          if (found.length > 0) {
            tip.append(make("div", { textContent: (found.length > 1 ? "findings " : "finding ") + found.join(", ") }));
          }
          const left = u.over.offsetLeft + u.cursor.left;
          tip.style.left = (left > place.clientWidth / 2 ? Math.max(0, left - tip.offsetWidth - 12) : left + 12) + "px";
        }] },
      }, values, place);
      place.append(tip);
    }
    figure.querySelectorAll(".plot, .times").forEach((part) => part.remove());
    figure.querySelectorAll(".key:is(.all, .mark)").forEach((key) => { // the choice has them
      key.nextSibling.remove();
      key.remove();
    });
    figure.append(place, choice);
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
  document.querySelectorAll(".findings > li").forEach((li) => rove([li.querySelector(".no"), ...linkNames(li.querySelectorAll(":is(b, p, li)"))], ["ArrowUp", "ArrowDown"]));
  for (const lines of document.querySelectorAll("pre[data-name]")) {
    lines.before(make("div", { className: "tools" }, copyButton("Copy", lines.dataset.name, () => lines.textContent)));
  }
  // unfold makes elements of what a robots.txt holds back, as many of them are many elements: it is the page's own text.
  function unfold(file) {
    const held = file.querySelector(":scope > noscript");
    if (held) {
      const box = make("div", { innerHTML: held.textContent });
      held.replaceWith(box);
      box.querySelectorAll("table[data-name]").forEach(add);
    }
  }
  const files = Array.from(document.querySelectorAll(".file"));
  files.forEach((file) => file.addEventListener("toggle", () => file.open && unfold(file)));
  const data = document.getElementById("chart-data");
  if (data && typeof uPlot === "function") {
    draw(document.getElementById("chart"), JSON.parse(data.textContent));
  }
  for (const heading of document.querySelectorAll("main > section > h2")) {
    heading.append(make("a", { className: "here", href: "#" + heading.parentNode.id, textContent: "#", ariaLabel: "Link to " + heading.textContent, tabIndex: -1 }));
  }

  // tableOf returns a table with the tools of one.
  function tableOf(name, heads, rows) {
    const numeric = (i) => rows.length > 0 && rows.every((row) => typeof row[i] === "number");
    const cellOf = (text, i) => make(i === 0 ? "th" : "td", { ...(i === 0 && { scope: "row" }), className: numeric(i) ? "n" : heads[i] === "Section" || heads[i] === "Origin" ? "mono url" : "", textContent: typeof text === "number" ? text.toLocaleString("en-US") : text });
    const table = make("table", { ariaLabel: name },
      make("thead", {}, make("tr", {}, ...heads.map((text, i) => make("th", { scope: "col", className: numeric(i) ? "n" : "", textContent: text })))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cellOf)))));
    table.dataset.name = name;
    return table;
  }

  // showCrawler shows all that the page has on one crawler, in a part of its own.
  function showCrawler(crawler) {
    document.getElementById("crawler")?.remove();
    if (!crawler) {
      return;
    }
    const { name } = crawler;
    const heading = make("h2", { id: "crawler-h", textContent: name, tabIndex: -1 });
    const view = make("section", { id: "crawler" }, heading);
    view.setAttribute("aria-labelledby", heading.id);
    const facts = [];
    for (const [of, skip, before = ""] of [["crawlers", []], ["conduct", ["Requests", "Crawler", "Disallowed", "Violations"]], ["crawlers with lists of addresses", ["Requests", "Crawler"]], ["two periods", [], "Two periods: "]]) {
      const table = document.querySelector("table[data-name=" + JSON.stringify(of) + "]");
      const row = table && Array.from(table.tBodies[0].rows).find((row) => textOf(row.cells[0]) === name);
      Array.from(row ? row.cells : []).forEach((cell, i) => {
        const head = textOf(table.tHead.rows[0].cells[i]);
        const text = textOf(cell);
        if (i > 0 && text !== "" && !skip.includes(head)) {
          facts.push([before + head, text]);
        }
      });
    }
    const found = Array.from(document.querySelectorAll(".findings > li")).filter((li) => li.textContent.includes(name));
    const list = make("ol", { className: "findings" });
    for (const li of found) {
      const copy = li.cloneNode(true);
      copy.removeAttribute("id");
      copy.querySelectorAll("a").forEach((link) => link.removeAttribute("tabindex"));
      list.append(copy);
    }
    const chart = make("figure", { ariaLabel: "Requests of " + name });
    const part = (title, ...table) => make("div", {}, make("h3", { textContent: title }), make("div", { className: "tbl" }, tableOf(...table)));
    const sections = crawler.sections.map((s) => [s.Path, s.Requests, s.Denied, s.Errors]);
    const all = data && typeof uPlot === "function" ? JSON.parse(data.textContent) : { lines: [] };
    const line = all.lines.find((line) => line.name === name);
    const numbers = found.map((li) => Number(li.querySelector(".no").textContent));
    const parts = [part("Sections, the busiest first", "sections of " + name, ["Section", "Requests", "Disallowed", "Errors"], sections)];
    if (crawler.fetches.length > 0) {
      const origins = new Set(crawler.fetches.map((f) => f.Origin)).size > 1;
      const known = (n) => n < 0 ? "\u2013" : n;
      const rows = crawler.fetches.map((f) => [timeOf(f.From, "second"), timeOf(f.To, "second"), f.Requests, known(f.Status), known(f.Bytes), ...origins ? [f.Origin] : []]).reverse();
      parts.push(part("Fetches of robots.txt, the latest first", "fetches of robots.txt by " + name, ["From", "To", "Requests", "Status", "Bytes", ...origins ? ["Origin"] : []], rows));
    }
    if (line && all.errors) {
      const { values, rest, moved, client, server } = numbersOf(line);
      const rows = values.flatMap((n, i) => n > 0 ? [[timeOf(all.starts[i], all.step), n, rest[i], moved[i], client[i], server[i]]] : []);
      parts.push(part("Statuses by " + all.step, "statuses of " + name, [all.step[0].toUpperCase() + all.step.slice(1), "Requests", "2xx or none", "3xx", "4xx", "5xx"], rows));
    }
    const left = crawler.fetched - crawler.fetches.reduce((sum, f) => sum + f.Requests, 0);
    const note = make("p", { className: "note", textContent: "Sections are the ten with the most requests." + (left > 0 ? " " + left.toLocaleString("en-US") + " earlier fetches of robots.txt are not shown." : "") + " All requests: " });
    note.append(document.querySelector("#paths .command").cloneNode(true));
    view.append(list, chart, make("div", { className: "pair" }, part("Numbers", "numbers of " + name, ["What", "Number"], facts), make("div", {}, ...parts)), note);
    document.getElementById("overview").after(view);
    view.querySelectorAll("table").forEach(add);
    if (line) {
      draw(chart, { ...all, isOne: true, lines: [line], drawn: [0], spans: all.spans.filter((span) => numbers.includes(span.no)) });
    }
    view.scrollIntoView();
    heading.focus({ preventScroll: true });
  }

  // A link to a robots.txt opens it, and one to a crawler shows its view.
  function openTarget() {
    const [, name] = /^#crawler=(.*)$/.exec(location.hash) || [];
    showCrawler(name && crawlers.find((crawler) => encodeURIComponent(crawler.name) === name));
    const target = document.getElementById(location.hash.slice(1));
    if (target && target.nodeName === "DETAILS") {
      document.querySelectorAll(".file.one").forEach((file) => { file.open = file === target; });
      target.open = true;
    }
  }
  addEventListener("hashchange", openTarget);
  openTarget();

  // On paper nothing unfolds.
  let closed = [];
  addEventListener("beforeprint", () => {
    if (document.getElementById("whole").checked) {
      files.forEach(unfold);
      closed = Array.from(document.querySelectorAll("details:not([open])"));
      closed.forEach((details) => { details.open = true; });
    }
  });
  addEventListener("afterprint", () => closed.splice(0).forEach((details) => { details.open = false; }));
})();
