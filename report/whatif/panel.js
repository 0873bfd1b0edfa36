// The panel "What if" of a report: an editor for a robots.txt. The module robobatchWhatIf, which is Go
// compiled to WebAssembly, decides; this script shows. Text of others gets into the page by textContent
// and value only.
'use strict';
(() => {
  const $ = (id) => document.getElementById('what-if-' + id);
  const ROWS = 200;        // of a table
  const LINES = 1000;      // of the table of lines
  const MAX_EDITS = 1 << 20; // bytes of all texts that the address brings; of each 500 KiB are read
  const MAX_ADDRESS = 60000; // characters that the address keeps
  const QUIET = 700;       // ms without a key until the change is said aloud and kept in the address
  const PREFIX = '#what-if=';

  const number = (n) => n.toLocaleString('en-US');
  const count = (n, one, many) => number(n) + ' ' + (n === 1 ? one : many || one + 's');
  const percent = (part, all) => all > 0 ? (100 * part / all).toFixed(part > 0 && part < all ? 1 : 0) + '%' : '–';

  // HIDDEN are characters that one does not see, or that change the order of others.
  const HIDDEN = /[^\p{L}\p{M}\p{N}\p{P}\p{S} \t\n]|[\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]/gu;

  // seen returns a text with escapes for these, as the report has them: anyone may have written it.
  function seen(text) {
    return text.replace(HIDDEN, (c) => {
      const n = c.codePointAt(0);
      const hex = (n) => n.toString(16).toUpperCase();
      return n >= 0xdc80 && n <= 0xdcff ? '%' + hex(n - 0xdc00) : '\\u{' + hex(n) + '}';
    });
  }

  // fill replaces the children of an element. What is a string becomes text.
  function fill(element, ...children) {
    element.replaceChildren(...children.map((c) => typeof c === 'string' ? seen(c) : c));
    return element;
  }

  function make(tag, ...children) {
    return fill(document.createElement(tag), ...children);
  }

  // The bytes of a robots.txt need not be UTF-8. Bytes that are not become lone surrogates, U+DC80 to
  // U+DCFF, which no UTF-8 has, and come back as they were.
  function textOf(bytes) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (e) {
      let text = '';
      for (let from = 0; from < bytes.length;) {
        const n = validAt(bytes, from);
        text += n > 0 ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, from + n)) : String.fromCharCode(0xdc00 + bytes[from]);
        from += Math.max(1, n);
      }
      return text;
    }
  }

  // validAt returns how many bytes the character at a place has, a run of ASCII counting as one; 0 if
  // there is none.
  function validAt(bytes, from) {
    let n = from;
    while (n < bytes.length && bytes[n] < 0x80) n++;
    if (n > from) return n - from;
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    for (n = 2; n <= 4 && from + n <= bytes.length; n++) {
      try {
        strict.decode(bytes.subarray(from, from + n));
        return n;
      } catch (e) { /* longer, or none */ }
    }
    return 0;
  }

  const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

  function bytesOf(text) {
    const utf8 = new TextEncoder();
    if (!LONE.test(text)) return utf8.encode(text);
    const parts = [];
    for (const part of text.split(/((?<![\ud800-\udbff])[\udc80-\udcff])/)) {
      const raw = part.length === 1 && part >= '\udc80' && part <= '\udcff';
      parts.push(raw ? [part.charCodeAt(0) - 0xdc00] : utf8.encode(part));
    }
    return join(parts);
  }

  function join(parts) {
    const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const p of parts) {
      all.set(p, at);
      at += p.length;
    }
    return all;
  }

  // fromText returns the bytes of ascii85, with other signs for those of HTML.
  function fromText(text) {
    const bytes = new Uint8Array(4 * text.length);
    const signs = { v: '"', w: '&', x: "'", y: '+', '{': '<', '|': '>' };
    let [to, sum, digits] = [0, 0, 0];
    const add = (digit) => {
      sum = 85 * sum + digit;
      digits = (digits + 1) % 5;
      for (let shift = 24; digits === 0 && shift >= 0; shift -= 8) bytes[to++] = sum >>> shift;
      if (digits === 0) sum = 0;
    };
    for (const sign of text.trim()) {
      if (sign === 'z') to += 4; // four bytes of 0
      else add((signs[sign] || sign).charCodeAt(0) - 33);
    }
    const lacking = digits && 5 - digits;
    while (digits) add(84);
    return bytes.subarray(0, to - lacking);
  }

  function fromBase64(text) {
    const binary = atob(text.trim().replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  }

  function toBase64(bytes) {
    let binary = '';
    for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }

  // through sends bytes through a stream that packs or unpacks, and stops at so many bytes.
  async function through(bytes, stream, most) {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
    const parts = [];
    for (let total = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return join(parts);
      total += value.length;
      if (total > most) {
        reader.cancel().catch(() => {});
        throw new Error('too large');
      }
      parts.push(value);
    }
  }

  const unpack = (bytes, most) => through(bytes, new DecompressionStream('gzip'), most);

  // What the page holds once it is started.
  let head = null;    // of the data
  let body = null;    // the bytes that head points at
  let site = null;    // the origin in hand
  let original = '';  // its text in force, as the editor has it
  let change = null;  // of the last edit
  let ticket = 0;     // of the last opening of an origin or reading of the address
  let kept = '';      // the fragment that was written last
  let era = 0;        // how many edits came with an address; entries of the history have it
  let about = '';     // what the text in the editor is
  let notice = '';    // what was wrong with the address, until somebody types
  let room = '';      // which edits the address has no room for
  const edits = new Map();   // by origin: its text, if it is edited
  const dropped = new Map(); // by origin: the edit that the text in force replaced
  const brought = new Set(); // origins whose edit came with an address
  const page = Math.random(); // tells entries of the history that this page wrote from others

  const state = (text) => fill($('state'), text);

  async function start() {
    if (!('DecompressionStream' in window) || !('WebAssembly' in window)) {
      state('This panel needs a newer browser: one with WebAssembly and DecompressionStream (Chrome or Edge 80, Firefox 113, Safari 16.4).');
      return;
    }
    state('Starting …');
    try {
      const [data, code] = await Promise.all([
        unpack(fromText($('data').textContent), 1 << 28), unpack(fromText($('module').textContent), 1 << 28)]);
      const top = new DataView(data.buffer).getUint32(0, true);
      head = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + top)));
      body = data.subarray(4 + top);
      const go = new Go();
      const { instance } = await WebAssembly.instantiate(code, go.importObject);
      go.run(instance).catch(failed); // it does not return
    } catch (e) {
      failed(e);
      return;
    }
    choices();
    listen();
    if (!await fromAddress()) openSite(0, null);
    $('body').hidden = false;
    const hadFocus = document.activeElement === $('start');
    $('start').remove();
    if (hadFocus) $('text').focus();
  }

  function failed(e) {
    $('body').ariaBusy = 'false';
    state('This panel does not work here: ' + (e && e.message || e));
  }

  // choices fills the lists of origins and crawlers.
  function choices() {
    head.origins.forEach((o, i) => $('origin').append(new Option(seen(o.origin), i)));
    mark();
    $('origins').hidden = head.origins.length < 2;
    $('agent').append(new Option('all crawlers', head.others ? -2 : -1));
    head.names.forEach((name, i) => $('agent').append(new Option(seen(name), i)));
    head.agents.forEach((token) => $('crawlers').append(new Option(token)));
    $('crawler').value = head.agents[head.others && head.agents.length > 1 ? 1 : 0];
  }

  // mark says in the list of origins which have an edit.
  function mark() {
    head.origins.forEach((o, i) => {
      const text = seen(o.origin) + (edits.has(o.origin) ? ' (edited)' : '');
      if ($('origin').options[i].textContent !== text) $('origin').options[i].textContent = text;
    });
  }

  // reset takes an edit back to the text in force, and brings it back.
  function reset() {
    const text = $('text').value;
    brought.delete(site.origin);
    if (text === original) {
      write(dropped.has(site.origin) ? dropped.get(site.origin) : original);
      return;
    }
    dropped.set(site.origin, text);
    write(original);
  }

  // choose shows an origin with its edit, if there is one.
  function choose(index) {
    const text = edits.get(head.origins[index].origin);
    openSite(index, text === undefined ? null : text);
  }

  // inForce returns the text in force of an origin, as the editor has it: with line feeds only.
  const inForce = (o) => textOf(body.subarray(...o.text)).replace(/\r\n?/g, '\n');

  // openSite shows an origin, with an edit of its text, or the text in force if that is null.
  function openSite(index, edit) {
    ticket++;
    const next = head.origins[index];
    const text = body.subarray(...next.text);
    if (site !== next) {
      const fault = robobatchWhatIf.open(head.flags, head.agents.join('\n'), body.subarray(...next.log), text);
      if (fault !== '') {
        failed(new Error(fault));
        return;
      }
      site = next;
      $('origin').value = index;
      original = inForce(next);
      fill($('share'), share(next));
      $('url').value = '';
      $('url').placeholder = '/path, or ' + next.origin + '/path';
      fill($('answer'));
    }
    write(edit === null ? original : edit);
  }

  // write puts a text into the editor.
  function write(text) {
    $('text').value = text;
    run();
  }

  // current returns the text in the editor as a file: the text in force as it is, or an edit with its
  // line ends, if all are CR LF.
  function current() {
    const before = body.subarray(...site.text);
    let text = $('text').value;
    if (text === original) return before;
    const ends = textOf(before);
    if (ends.includes('\r\n') && !/(^|[^\r])\n|\r(?!\n)/.test(ends)) text = text.replace(/\n/g, '\r\n');
    return bytesOf(text);
  }

  function share(o) {
    const parts = ['The text is that of ' + o.name + '.'];
    if (o.others > 0) parts.push(count(o.others, 'other origin has', 'other origins have') + ' the same text, so their requests are included, by path.');
    const some = o.urls < o.distinct ? 'the ' + number(o.urls) + ' most requested of ' + number(o.distinct) + ' URLs' :
      (o.distinct > 0 ? 'all ' + number(o.urls) + ' URLs' : 'the most requested URLs, ' + number(o.urls) + ' of them');
    parts.push('The editor decides ' + some + ', with ' + count(o.counted, head.unit) +
      (o.requests > 0 ? ': ' + percent(o.counted, o.requests) + ' of the ' + number(o.requests) + (o.others > 0 ? ' to these origins' : ' to ' + o.origin) + ' in this report.' : '.'));
    if (o.limit !== '') parts.push('Other URLs are omitted: ' + o.limit + '.');
    parts.push('“Before” shows the decisions of this text.');
    return parts.join(' ');
  }

  // run decides by the text in the editor, a slice at a time, and shows what comes of it. A later run takes
  // its place.
  async function run() {
    const mine = ++turn;
    const text = $('text').value;
    try {
      robobatchWhatIf.edit(current());
      while (!robobatchWhatIf.step()) {
        busy();
        await new Promise((done) => setTimeout(done));
        if (mine !== turn) return;
      }
      change = JSON.parse(robobatchWhatIf.change(Number($('agent').value), ROWS));
    } catch (e) { // the module is out of memory, say, and does not run any more
      failed(e);
      return;
    }
    $('body').ariaBusy = 'false';
    if (change.error) {
      state('These rules cannot be decided: ' + change.error);
      return;
    }
    totals();
    moved('closed', change.closed);
    moved('opened', change.opened);
    wishes();
    lines();
    gutter.read(text, change.lines);
    const isEdit = text !== original;
    if (isEdit) edits.set(site.origin, text);
    else edits.delete(site.origin);
    mark();
    about = !isEdit ? 'This is the text in force.' : brought.has(site.origin) ?
      'This edit comes from the address of this page. It is not the text in force.' : 'This is an edit of the text in force.';
    room = '';
    state(notice + about);
    fill($('reset'), !isEdit && dropped.has(site.origin) ? 'Back to the edit' : 'Back to the text in force');
    later();
  }

  // busy says that the tables are not yet those of the text.
  function busy() {
    $('body').ariaBusy = 'true';
    state('Deciding …');
  }

  let turn = 0;       // of the last run
  let timer = 0;      // until the text is decided
  let quiet = 0;      // until nobody types
  let last = 0;       // ms that the page stood still for the last run

  // soon decides when there is time: at once if that is quick.
  function soon() {
    brought.delete(site.origin);
    notice = '';
    clearTimeout(timer);
    if (last >= 50) busy();
    timer = setTimeout(() => {
      const begin = performance.now();
      run();
      last = performance.now() - begin;
    }, last < 50 ? 0 : Math.min(300, last));
  }

  // later says the change aloud and keeps it in the address, when nobody types.
  function later() {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      fill($('change'), spoken());
      toAddress().catch(() => {}); // some browsers keep no address for files
    }, QUIET);
  }

  function spoken() {
    const chosen = Number($('agent').value);
    const parts = chosen < 0 ? [] : [head.names[chosen] + ':'];
    for (const [name, list] of [['Closed', change.closed], ['Opened', change.opened]]) {
      parts.push(name + ': ' + sumOf(list));
    }
    const others = USES.map((name, use) => [name, change.wishes.filter((w) => w[0] === use && w[1] !== w[2]).reduce((n, w) => n + w[3], 0)]).filter(([, n]) => n > 0);
    if (others.length > 0) parts.push('Other preferences: ' + others.map(([name, n]) => name + ' for ' + count(n, head.unit)).join(', ') + '.');
    if (chosen >= 0) {
      const sum = (i) => crawlers().reduce((n, t) => n + t[i], 0);
      parts.push('All crawlers: ' + count(sum(3), head.unit) + ' closed, ' + number(sum(4)) + ' opened.');
    }
    if (change.open) parts.push('Over 500 KiB: ' + head.dialect + ' reads no rules of it, and allows everything.');
    else if (change.truncated) parts.push('Only the first 500 KiB are read.');
    if (change.rules === 0) parts.push('There are no rules.');
    const odd = $('text').value.replace(/^\ufeff/, '').split('\n').flatMap((line, i) => seen(line.replace(/[\udc80-\udcff]/g, 'x')) === line ? [] : [number(i + 1)]);
    if (odd.length > 0) parts.push('Characters that the editor cannot show in place are in line' + (odd.length > 1 ? 's ' : ' ') + odd.slice(0, 5).join(', ') + (odd.length > 5 ? ' and ' + number(odd.length - 5) + ' more' : '') + '.');
    return parts.join(' ');
  }

  // crawlers returns the totals of crawlers, without those of other clients.
  const crawlers = () => change.agents.slice(head.others ? 1 : 0);

  // sumOf says how much closes, or opens.
  const sumOf = (list) => list.urls === 0 ? 'nothing.' :
    count(list.urls, 'URL') + ', ' + count(list.requests, head.unit) + (head.bytes ? ', ' + count(list.bytes, 'byte') : '') + '.';

  // table fills the body of a table, whose columns of numbers its head marks. The script of the report, which
  // has it sort and filter, is told.
  function table(id, rows) {
    const heads = [...$(id).tHead.rows[0].cells];
    fill($(id).tBodies[0], ...rows.map((row) => rowOf(row, heads)));
    $(id).dispatchEvent(new Event('rows'));
  }

  function rowOf(row, heads) {
    return make('tr', ...row.map((value, i) => {
      const cell = make(i === 0 ? 'th' : 'td', value);
      if (i === 0) cell.scope = 'row';
      if (heads[i].classList.contains('n')) cell.className = 'n';
      return cell;
    }));
  }

  function totals() {
    const sum = [0, 0, 0, 0, 0, 0, 0];
    const row = (name, t) => [name, number(t[0]), number(t[1]), number(t[2]), percent(t[2], t[0]), number(t[3]), number(t[4]), ...(head.bytes ? [number(t[5]), number(t[6])] : [])];
    table('totals', change.agents.map((t, i) => {
      if (i > 0 || !head.others) t.forEach((n, k) => { sum[k] += n; });
      return row(head.names[i], t);
    }));
    const foot = crawlers().length > 1 ? [rowOf(row('all crawlers' + (head.unit === 'verdict' ? ', in verdicts' : ''), sum), [...$('totals').tHead.rows[0].cells])] : [];
    fill($('totals').tFoot, ...foot);
  }

  const ruleText = (r) => r === null ? 'no rule' : 'line ' + number(r[0]) + ': ' + r[1];
  const crawlersOf = (row) => row.agents.map((a) => head.names[a]);

  function moved(id, list) {
    const named = (row) => {
      const names = crawlersOf(row);
      return names.slice(0, 3).join(', ') + (names.length > 3 ? ' and ' + (names.length - 3) + ' more' : '');
    };
    table(id, list.rows.map((r) => [r.path || '(no path)', number(r.requests), named(r), ruleText(r.to), ruleText(r.from)]));
    const more = list.urls > list.rows.length ? ' Shown are the ' + list.rows.length + ' most requested.' : '';
    fill($(id + '-sum'), list.urls === 0 ? 'Nothing.' : sumOf(list) + more);
    $(id + '-copy').hidden = more === '';
    $(id).parentElement.parentElement.hidden = list.urls === 0;
  }

  const USES = ['train AI', 'search', 'AI input'];
  const ANSWERS = ['nobody says', 'no', 'yes'];

  function wishes() {
    table('wishes', change.wishes.map(([use, from, to, requests, urls, path]) => [USES[use], ANSWERS[from], ANSWERS[to], number(requests), number(urls), path || '(no path)']));
    $('wishes-part').hidden = change.wishes.length === 0;
  }

  function lines() {
    const text = $('text').value.split('\n');
    const rows = change.lines.slice(0, LINES).map((l) => [number(l[0]), (text[l[0] - 1] || '').trim().slice(0, 300), number(l[1]), l[2] ? 'allowed' : 'disallowed']);
    table('lines', rows);
    const more = change.lines.length > LINES ? ' Shown are the first ' + number(LINES) + '.' : '';
    fill($('lines-sum'), change.lines.length === 0 ? 'No line decides a request.' : count(change.lines.length, 'line decides', 'lines decide') + ' requests.' + more);
    $('lines').parentElement.parentElement.hidden = change.lines.length === 0;
  }

  // The gutter shows the numbers of the lines in sight, so 50,000 lines are no work.
  const gutter = {
    lines: 1, counts: new Map(), height: 0,
    read(text, decided) {
      this.lines = text.split('\n').length;
      this.counts = new Map(decided.map((l) => [l[0], l]));
      this.draw();
    },
    draw() {
      const area = $('text');
      if (this.height === 0) this.height = parseFloat(getComputedStyle(area).lineHeight) || 18;
      const first = Math.max(0, Math.floor(area.scrollTop / this.height) - 2);
      const end = Math.min(this.lines, first + Math.ceil(area.clientHeight / this.height) + 4);
      const parts = [];
      for (let i = first + 1; i <= end; i++) {
        const line = this.counts.get(i);
        const mark = make('span', line ? number(line[1]) : '');
        mark.className = line ? (line[2] ? 'whatif-allow' : 'whatif-disallow') : '';
        parts.push(make('span', make('b', String(i)), mark));
      }
      fill($('gutter'), ...parts);
      $('gutter').style.height = area.offsetHeight + 'px';
      $('gutter').firstChild.style.marginTop = (first * this.height - area.scrollTop) + 'px';
    },
  };

  // --- the address ---

  // toAddress keeps the edits in the fragment: that of the origin in sight, and those of the others that there
  // is room for.
  async function toAddress() {
    const mine = ticket;
    const text = $('text').value;
    const others = [...edits].filter(([origin]) => origin !== site.origin);
    const all = text === original ? others : [[site.origin, text], ...others];
    const left = [];
    let fragment = '';
    let parts = [];
    for (const [origin, edit] of all) {
      const bytes = bytesOf(edit);
      const more = [...parts, bytesOf(origin + '\n' + bytes.length + '\n'), bytes];
      const raw = join(more);
      const longer = raw.length > MAX_EDITS ? '' : PREFIX + toBase64(await through(raw, new CompressionStream('gzip'), 1 << 28));
      if (longer === '' || longer.length > MAX_ADDRESS) {
        left.push(origin);
        continue;
      }
      parts = more;
      fragment = longer;
    }
    if (mine !== ticket || text !== $('text').value) return;
    room = !left.includes(site.origin) ? '' : ' It is too long for the address of this page: save it as a file.';
    const rest = left.filter((origin) => origin !== site.origin);
    if (rest.length > 0) room += ' The address of this page has no room for the edit' + (rest.length > 1 ? 's' : '') + ' of ' + rest.join(', ') + ': save ' + (rest.length > 1 ? 'these as files.' : 'it as a file.');
    state(notice + about + room);
    if (fragment === '' && !location.hash.startsWith(PREFIX)) {
      kept = '';
      return;
    }
    kept = fragment;
    history.replaceState({ page, era }, '', fragment || '#what-if');
  }

  // fromFragment returns the edits that a fragment has, each an origin and its text: gzip, in base64, of the
  // origin, the number of the bytes of the text, and these, for each. It throws if a fragment has another form.
  async function fromFragment(fragment) {
    const bytes = await unpack(fromBase64(fragment.slice(PREFIX.length)), MAX_EDITS + 10000);
    const all = [];
    const line = (from) => {
      const end = bytes.indexOf(10, from);
      if (end < 0) throw new Error('no line');
      return [textOf(bytes.subarray(from, end)), end + 1];
    };
    for (let at = 0; at < bytes.length;) {
      let origin, size;
      [origin, at] = line(at);
      [size, at] = line(at);
      if (!/^\d{1,7}$/.test(size) || at + Number(size) > bytes.length) throw new Error('no text');
      all.push([origin, textOf(bytes.subarray(at, at + Number(size))).replace(/\r\n?/g, '\n')]);
      at += Number(size);
    }
    return all;
  }

  // visited is told that the address changed. A link in the page has its own fragment, and Back may bring
  // an older edit of this page: the edit in hand stays, and comes into the address again.
  function visited() {
    const own = history.state && history.state.page === page && history.state.era === era;
    if (own || !location.hash.startsWith(PREFIX)) toAddress().catch(() => {});
    else fromAddress();
  }

  // fromAddress opens the edits that the address has. It reports whether there are any.
  async function fromAddress() {
    const fragment = location.hash;
    if (!fragment.startsWith(PREFIX) || fragment === kept) return false;
    const mine = ++ticket;
    let found = [];
    try {
      const siteOf = (origin) => head.origins.find((o) => o.origin === origin);
      found = (await fromFragment(fragment)).map(([origin, text]) => [siteOf(origin), text]).filter(([o]) => o);
    } catch (e) { /* no edit of ours */ }
    if (mine !== ticket) return true;
    if (found.length === 0) {
      if (site === null) openSite(0, null);
      notice = 'The address of this page contains no edit of a robots.txt in this report. ';
      state(notice + about);
      return true;
    }
    kept = fragment;
    notice = '';
    era++;
    for (const [o, text] of found) {
      if (text === inForce(o)) continue;
      edits.set(o.origin, text);
      brought.add(o.origin);
    }
    openSite(head.origins.indexOf(found[0][0]), found[0][1]);
    return true;
  }

  // --- copies and files ---

  // cell writes a cell of CSV. A spreadsheet would run text that begins like a formula, and what is pasted has
  // cells between tabs, and in many countries between semicolons, too.
  function cell(value) {
    const text = seen(String(value)).replace(/(^|[;\t\n\r])(?=[=+\-@＝＋－＠\t\r])/g, "$1'");
    return /[",;\t\n\r]/.test(text) || text[0] === "'" ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  async function copy(id, button) {
    const all = JSON.parse(robobatchWhatIf.change(Number($('agent').value), 1e9))[id];
    const rows = [['path', head.unit + 's', 'crawlers', 'line', 'rule', 'line_before', 'rule_before']];
    for (const r of all.rows) {
      rows.push([r.path, r.requests, crawlersOf(r).join(' '), ...(r.to || ['', '']), ...(r.from || ['', ''])]);
    }
    const ok = await toClipboard(rows.map((r) => r.map(cell).join(',') + '\r\n').join(''));
    const label = button.textContent;
    fill(button, ok ? 'Copied' : 'The browser does not allow copying');
    setTimeout(() => fill(button, label), 2000);
  }

  async function toClipboard(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (e) { // an old browser, or a page that may not: the old way
      const area = make('textarea');
      area.value = text;
      area.className = 'whatif-away';
      document.body.append(area);
      area.select();
      const ok = document.execCommand('copy');
      area.remove();
      return ok;
    }
  }

  // save offers the text as a file.
  function save() {
    const link = make('a');
    link.href = URL.createObjectURL(new Blob([current()], { type: 'text/plain' }));
    link.download = 'robots.txt';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // --- one URL ---

  // ascii has the browser convert a host beyond ASCII: the module has no tables for that.
  function ascii(url) {
    const parts = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/(?:[^/?#;@]*@)?)([^/?#;:@[\]]*[^\x00-\x7f][^/?#;:@[\]]*)(.*)$/s.exec(url);
    if (!parts) return url;
    try {
      return parts[1] + new URL('https://' + parts[2]).hostname + parts[3];
    } catch (e) {
      return url;
    }
  }

  const BECAUSE = {
    robots_txt: 'robots.txt itself is always allowed.',
    no_group: 'There is no group for this crawler.',
    default: 'No rule of the group matches.',
    too_large: 'The text is larger than 500 KiB, so this dialect ignores its rules.',
  };
  const DECIDES = { only: 'no other matches', longest: 'the longest that matches', allow: 'Allow wins a tie', first: 'the first of its length' };

  function because(a, dialect) {
    if (a.rule === null) return BECAUSE[a.reason];
    return ruleText(a.rule) + (a.reason === 'undefined' ? ' (' + dialect + ' leaves this undefined: a rule with a * has the opposite effect)' : '');
  }

  const verdict = (a) => a.allowed ? 'allowed' : 'disallowed';

  // faultOf says what is wrong with a question, '' if nothing is.
  function faultOf(url, crawler) {
    if (url[0] !== '/' && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(url)) {
      return '“' + url + '” is neither a URL nor a path: a URL starts with https:// or http://, a path with /.';
    }
    if (/[\s();,]/.test(crawler) && !head.agents.includes(crawler)) {
      const words = crawler.toLowerCase().split(/[^a-z0-9_-]+/);
      const known = head.agents.filter((name) => words.includes(name.toLowerCase()));
      return '“' + crawler + '” is more than a product token, which is the name in a User-Agent: write that alone, ' + (known.length > 0 ? known.join(' or ') + '.' : 'such as GPTBot.');
    }
    return '';
  }

  function ask(event) {
    event.preventDefault();
    const crawler = $('crawler').value.trim() || '*';
    const fault = faultOf($('url').value.trim(), crawler);
    if (fault) {
      fill($('answer'), make('p', 'No answer: ' + fault));
      return;
    }
    const a = JSON.parse(robobatchWhatIf.explain(current(), ascii($('url').value.trim()), crawler, site.origin));
    if (a.error) {
      fill($('answer'), make('p', 'No answer: ' + a.error + '.'));
      return;
    }
    const strong = make('strong', verdict(a));
    strong.className = a.allowed ? 'whatif-allow' : 'whatif-disallow';
    const parts = [make('p', strong, ': ' + because(a, head.dialect))];
    const facts = [['Path, as matched', a.path]];
    if (a.names) facts.push(['Crawler', names(a, crawler)], ['Group', groups(a)]);
    if (a.dialects) facts.push(['Other dialects', a.dialects.map((d) => d.dialect + ': ' + verdict(d) + (d.rule ? ' (line ' + d.rule[0] + ')' : '')).join(', ')]);
    for (const [key, name] of [['content_usage', 'Content-Usage'], ['content_signal', 'Content-Signal'], ['policy_train_ai', '__usage_ai-training'], ['license', 'License']]) {
      if (a[key]) facts.push([name + ' (draft)', (a[key][1] || 'nothing known') + (a[key][0] ? ' (line ' + number(a[key][0]) + ')' : '')]);
    }
    const list = make('dl');
    for (const [term, text] of facts) if (text) list.append(make('dt', term), make('dd', text));
    parts.push(list);
    if (a.rules && a.rules.length > 0) parts.push(...tried(a));
    fill($('answer'), ...parts);
    const rules = $('answer').querySelector('table');
    if (rules) rules.dispatchEvent(new Event('table', { bubbles: true }));
  }

  function names(a, crawler) {
    const without = a.names.filter((n) => !n.found).map((n) => n.name);
    const found = a.names.filter((n) => n.found).map((n) => n.name)[0];
    let text = crawler + ': ';
    if (without.length > 0) text += 'no group for ' + without.join(', nor for ') + (found ? '; that for ' + found + ' binds it' : '');
    else text += found === '*' ? 'only a group for * can name it' : found ? 'a group names it' : 'no group can name it';
    return text;
  }

  function groups(a) {
    return a.groups.slice(0, 10).map(([first, end]) => first === end ? 'line ' + first : 'lines ' + first + ' to ' + end).join(', ') +
      (a.groups.length > 10 ? ' and ' + (a.groups.length - 10) + ' more' : '') + (a.groups.length > 1 ? ', merged' : '');
  }

  function tried(a) {
    const fate = (r) => r.matches ? count(r.length, 'byte') + (r.decides_by ? ', ' + DECIDES[r.decides_by] : '') : 'no match at byte ' + number(r.stops_at);
    const line = (n) => Object.assign(make('td', number(n)), { className: 'n' });
    const rows = a.rules.map((r) => make('tr', line(r.line), make('td', r.rule), make('td', (r.decides_by ? 'decides: ' : '') + fate(r))));
    const top = make('tr', ...['Line', 'Rule', 'Result'].map((name) => {
      const th = make('th', name);
      th.scope = 'col';
      return th;
    }));
    top.firstChild.className = 'n';
    const table = make('table', make('caption', 'Rules of the group: the deciding rule, other matching rules, then the nearest others'), make('thead', top), make('tbody', ...rows));
    table.dataset.name = 'rules that were tried';
    const result = make('div', table);
    result.className = 'tbl';
    const left = a.tried - a.rules.length;
    return left > 0 ? [result, make('p', count(left, 'rule') + ' more.')] : [result];
  }

  // --- events ---

  function listen() {
    $('text').addEventListener('input', soon);
    $('text').addEventListener('scroll', () => gutter.draw());
    $('agent').addEventListener('change', run);
    $('origin').addEventListener('change', () => choose(Number($('origin').value)));
    $('reset').addEventListener('click', reset);
    $('save').addEventListener('click', save);
    $('ask').addEventListener('submit', ask);
    for (const id of ['closed', 'opened']) $(id + '-copy').addEventListener('click', (e) => copy(id, e.currentTarget));
    addEventListener('hashchange', visited);
    if ('ResizeObserver' in window) new ResizeObserver(() => gutter.draw()).observe($('text'));
  }

  // The module starts when someone presses the button, comes to the panel by a link, or the address has an edit.
  let started = false;
  function begin() {
    if (started) return;
    started = true;
    start();
  }
  if (!$('data')) return;
  const isAsked = () => location.hash === '#what-if' || location.hash.startsWith(PREFIX);
  const button = make('button', 'Start the editor');
  Object.assign(button, { type: 'button', id: 'what-if-start' });
  state('The editor uses some memory of the browser.');
  $('state').before(button);
  button.addEventListener('click', begin);
  addEventListener('hashchange', () => isAsked() && begin());
  if (isAsked()) begin();
})();
