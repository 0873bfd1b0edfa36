// Prints the named columns of a Parquet file as a JSON array of rows, in the order of the column line. The first
// argument is the reader: clickhouse or hyparquet.
import { resolve } from "node:path";

const [reader, name, ...columns] = process.argv.slice(2);
const path = resolve(name);
const read = {
  clickhouse: async () => {
    const { default: chdb } = await import("chdb");
    const list = columns.map((c) => `\`${c}\``).join(", ");
    return JSON.parse(chdb.query(`select ${list} from file('${path}', 'Parquet') order by line`, "JSONCompact")).data;
  },
  hyparquet: async () => {
    const { asyncBufferFromFile, parquetReadObjects } = await import("hyparquet");
    const { compressors } = await import("hyparquet-compressors");
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), columns: [...columns, "line"], compressors });
    return rows.sort((a, b) => Number(a.line) - Number(b.line)).map((row) => columns.map((c) => row[c] ?? null));
  },
};
console.log(JSON.stringify(await read[reader]()));
