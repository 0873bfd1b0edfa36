// Prints the types and the rows of an Arrow IPC file or stream, as read by Apache Arrow for JavaScript, as JSON. Values are
// JavaScript strings or null.
import { readFileSync } from "node:fs";
import { tableFromIPC } from "apache-arrow";

const table = tableFromIPC(readFileSync(process.argv[2]));
const columns = table.schema.fields.map((_, i) => table.getChildAt(i));
const rows = Array.from({ length: table.numRows }, (_, row) => columns.map((column) => (column.isValid?.(row) === false || column.get(row) === null ? null : String(column.get(row)))));
console.log(JSON.stringify({ types: table.schema.fields.map((f) => `${f.name}: ${f.type}`), rows }));
