// Reads an Arrow IPC file or stream with Apache Arrow for JavaScript and prints its counts as JSON: see counts in
// ../counts_test.go.
import { readFileSync } from "node:fs";
import { tableFromIPC } from "apache-arrow";

const table = tableFromIPC(readFileSync(process.argv[2]));
const counts = { rows: table.numRows, allowed: 0, denied: 0, unknown: 0, reasons: {}, rule_line: 0, rules: 0, url_bytes: 0 };
const [allowed, reason, ruleLine, rule, url] = ["allowed", "reason", "rule_line", "rule", "url"].map((name) => table.getChild(name));

for (let i = 0; i < table.numRows; i++) {
  const answer = allowed.get(i);
  counts[answer === null ? "unknown" : answer ? "allowed" : "denied"]++;
  counts.reasons[reason.get(i)] = (counts.reasons[reason.get(i)] ?? 0) + 1;
  counts.rule_line += ruleLine.get(i) ?? 0;
  if (rule.get(i) !== null) counts.rules++;
  counts.url_bytes += Buffer.byteLength(url.get(i) ?? "");
}
console.log(JSON.stringify(counts));
