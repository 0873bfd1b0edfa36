// Runs statements in ClickHouse, in one session, and prints the rows of each as JSON. The first argument is the directory of
// the programs that the table function executable, and the functions in *_function.xml there, may call.
import { resolve } from "node:path";
import chdb from "chdb";

const [scripts, ...statements] = process.argv.slice(2);
const session = new chdb.Session("", {
  connectionArgs: [`--user_scripts_path=${resolve(scripts)}`, `--user_defined_executable_functions_config=${resolve(scripts)}/*_function.xml`],
});
try {
  const results = statements.map((sql) => {
    const text = session.query(sql, "JSONCompact");
    return text ? JSON.parse(text).data : [];
  });
  console.log(JSON.stringify(results));
} finally {
  session.close();
}
