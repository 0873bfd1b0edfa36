import gzip, http.server, sys
RULES = b"User-agent: *\nDisallow: /private/\n"
def rules(host): return b"# " + host.encode() + b"\n" + RULES
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def reply(self, code, body=b"", **fields):
        self.send_response(code)
        for k, v in fields.items(): self.send_header(k.replace("_", "-"), v)
        if "Transfer_Encoding" not in fields: self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True
    def do_GET(self):
        host = self.path.split("/")[2]
        name = host.split(".")[0]
        text = {"Content_Type": "text/plain"}
        if self.path.endswith("/index.html"): return self.reply(200, b"<p>hello", Content_Type="text/html")
        if self.path.endswith("/en/robots.txt"): return self.reply(200, rules(host), **text)
        if name == "chunked":
            b = rules(host)
            parts = [b[i:i+20] for i in range(0, len(b), 20)] + [b""]
            return self.reply(200, b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts), Transfer_Encoding="chunked", **text)
        if name == "gzip": return self.reply(200, gzip.compress(rules(host), mtime=0), Content_Encoding="gzip", **text)
        if name == "br": return self.reply(200, open("br.bin", "rb").read(), Content_Encoding="br", **text)
        if name == "one": return self.reply(301, b"moved", Location="http://two.example/robots.txt")
        if name == "two": return self.reply(302, b"moved", Location="//three.example/robots.txt")
        if name == "three": return self.reply(307, b"moved", Location="/en/robots.txt")
        if name == "gone": return self.reply(404, b"<h1>Not found</h1>", Content_Type="text/html")
        if name == "down": return self.reply(503, b"later", Retry_After="60")
        self.reply(200, rules(host), **text)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
