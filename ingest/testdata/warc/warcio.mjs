// Writes the records of warcio.warc (WARC/1.1) with warcio.js 2.4.11, each into a file of its own, too: records/NN.
import { WARCRecord, WARCSerializer } from "warcio";
import { mkdirSync, writeFileSync } from "node:fs";

const version = "WARC/1.1";
const date = "2026-03-04T05:06:07.123456Z";
const rules = "User-agent: *\nDisallow: /private/\nAllow: /private/open\n";
async function* bytes(text) { yield new TextEncoder().encode(text); }
const response = (url, statusline, fields, body, more = {}) => WARCRecord.create({
  url, date, type: "response", warcVersion: version, statusline,
  httpHeaders: fields, warcHeaders: more,
}, bytes(body));

const text = { "Content-Type": "text/plain" };
const origin = response("https://a.example/robots.txt", "HTTP/1.1 200 OK", text, rules,
  { "WARC-Record-ID": "<urn:uuid:00000000-0000-4000-8000-00000000000a>" });
const records = [
  WARCRecord.createWARCInfo({ filename: "warcio.warc", warcVersion: version }, { software: "warcio.js" }),
  origin,
  response("https://a.example/", "HTTP/1.1 200 OK", { "Content-Type": "text/html" }, "<p>home"),
  response("https://b.example/robots.txt", "HTTP/1.1 301 Moved Permanently", { Location: "https://www.b.example/robots.txt" }, ""),
  response("https://www.b.example/robots.txt", "HTTP/1.1 308 Permanent Redirect", { Location: "/rules?of=robots.txt" }, ""),
  response("https://www.b.example/rules?of=robots.txt", "HTTP/1.1 200 OK", text, "User-agent: *\nDisallow: /b/\n"),
  response("https://c.example/robots.txt", "HTTP/1.1 404 Not Found", text, "none"),
  response("https://d.example/robots.txt", "HTTP/1.1 503 Service Unavailable", text, "later"),
  response("https://xn--mller-kva.example:443/robots.txt", "HTTP/1.1 200 OK", text, rules.repeat(40)),
  WARCRecord.create({ url: "https://a.example/robots.txt", date: "2026-04-05T06:07:08Z", type: "revisit", warcVersion: version,
    statusline: "HTTP/1.1 304 Not Modified", httpHeaders: { ETag: '"1"' },
    warcHeaders: { "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
      "WARC-Refers-To-Target-URI": "https://a.example/robots.txt", "WARC-Refers-To-Date": date } }, bytes("")),
];
mkdirSync("records", { recursive: true });
const all = [];
for (const [i, r] of records.entries()) {
  const b = await WARCSerializer.serialize(await r, { gzip: false, digest: { algo: "sha-256", base32: true } });
  writeFileSync(`records/${String(i).padStart(2, "0")}`, b);
  all.push(b);
}
writeFileSync("warcio.warc", Buffer.concat(all));
