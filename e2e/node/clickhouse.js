// Reads a Parquet file, an Arrow IPC file or stream with ClickHouse and prints its counts as JSON: see counts in
// ../counts_test.go.
import { extname, resolve } from "node:path";
import chdb from "chdb";

const formats = { ".parquet": "Parquet", ".arrow": "Arrow", ".arrows": "ArrowStream" };
const path = resolve(process.argv[2]);
const table = `file('${path.replaceAll("'", "\\'")}', '${formats[extname(path)]}')`;

const select = (what) => JSON.parse(chdb.query(`select ${what}`, "JSON")).data;
const [row] = select(`count() as rows, countIf(allowed) as allowed, countIf(not allowed) as denied, countIf(allowed is null) as unknown,
  ifNull(sum(rule_line), 0) as rule_line, count(rule) as rules, ifNull(sum(length(url)), 0) as url_bytes from ${table} settings prefer_column_name_to_alias = 1`);
const counts = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
counts.reasons = Object.fromEntries(select(`reason, count() as n from ${table} group by reason`).map((r) => [r.reason, Number(r.n)]));
console.log(JSON.stringify(counts));
