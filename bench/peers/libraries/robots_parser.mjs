// library: npm robots-parser 3.0.1
import { createInterface } from "node:readline";
import parse from "robots-parser";

for await (const line of createInterface({ input: process.stdin })) {
  const [robots, crawler, url] = line.split("\t").map((text) => Buffer.from(text, "hex").toString());
  let allowed;
  try {
    allowed = parse(new URL("/robots.txt", url).href, robots).isAllowed(url, crawler);
  } catch {}
  console.log(allowed === undefined ? "-" : allowed ? "1" : "0");
}
