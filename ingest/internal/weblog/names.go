package weblog

import (
	"slices"

	"github.com/robobatch/robobatch/engine"
)

// The names of fields that mean the same in every format. [Options].Keep takes them as well as the
// names that a format has itself.
const (
	NameTime     = "time"
	NameClient   = "client"
	NameMethod   = "method"
	NameHost     = "host"
	NameProtocol = "protocol"
	NameStatus   = "status"
	NameBytes    = "bytes"
	NameReferer  = "referer"
	NameAgent    = "user_agent"
	NameUser     = "user"

	nameURL    = "url"
	nameScheme = "scheme"
	namePort   = "port"
)

// Names returns the names that mean the same in every format, and the kinds of their values.
func Names() map[string]engine.KeptKind {
	return map[string]engine.KeptKind{
		NameTime: engine.KeptTime, NameClient: engine.KeptText, NameMethod: engine.KeptText, NameHost: engine.KeptText,
		NameProtocol: engine.KeptText, NameStatus: engine.KeptInt, NameBytes: engine.KeptInt, NameReferer: engine.KeptText,
		NameAgent: engine.KeptText, NameUser: engine.KeptText,
	}
}

// KindOf returns the kind of a field's values, by its name: the kind in [Names], or one of a format
// that means the same. It is KeptText for others.
func KindOf(field string) engine.KeptKind {
	for name, kind := range Names() {
		if name == field || slices.Contains(known[name], field) {
			return kind
		}
	}
	return engine.KeptText
}

// known are the names of the fields that have one meaning, in formats with names: W3C extended
// (Microsoft's IIS, Amazon CloudFront), Caddy, Cloudflare Logpush, Google's load balancers, the
// Elastic Common Schema, variables of nginx, Google Analytics in BigQuery, and headers of tables. The first field that a row has
// counts; of a table, the first column whose values do not contradict it, see [sample.column].
var known = map[string][]string{
	nameURL: {
		"url", "request.uri", "ClientRequestURI", "request_url", "request_uri", "httpRequest.requestUrl", "url.full", "url.original",
		"cs-uri", "uri", "request", "request_line", "address", "page", "page_url", "link", "loc", "path", "ClientRequestPath",
		"event_params.page_location",
	},
	NameHost: {
		"x-host-header", "cs-host", "cs(Host)", "request.host", "ClientRequestHost", "http_host", "host", "vhost", "server_name",
		"hostname", "request_host", "domain", "url.domain",
	},
	nameScheme: {
		"cs-protocol", "x-forwarded-proto", "request.scheme", "ClientRequestScheme", "http_x_forwarded_proto", "scheme", "https",
		"url.scheme",
	},
	namePort: {"s-port"},
	NameAgent: {
		"cs(User-Agent)", "request.headers.User-Agent.0", "ClientRequestUserAgent", "http_user_agent", "user_agent",
		"user_agent.original", "httpRequest.userAgent", "userAgent", "useragent", "user-agent", "User Agent", "agent", "ua",
	},
	NameTime: {
		"ts", "EdgeStartTimestamp", "fetch_time", "time_iso8601", "msec", "@timestamp", "timestamp", "time", "time_local", "datetime", "date",
		"Crawl Timestamp", "Crawl Date", "Last crawled", "event_timestamp",
	},
	NameStatus: {
		"sc-status", "status", "EdgeResponseStatus", "fetch_status", "response_status", "status_code", "Status Code", "httpRequest.status",
		"http.response.status_code", "HTTP Status Code", "http_status_code", "HTTP Status", "http_status", "httpStatusCode", "httpStatus",
		"HTTP Code", "http_code", "Response Code", "response_code", "elb_status_code",
	},
	NameBytes: {
		"sc-bytes", "size", "EdgeResponseBytes", "bytes", "body_bytes_sent", "bytes_sent", "response_size", "httpRequest.responseSize",
	},
	NameReferer: {
		"cs(Referer)", "request.headers.Referer.0", "ClientRequestReferer", "http_referer", "referer", "referrer",
		"httpRequest.referer", "http.request.referrer", "event_params.page_referrer",
	},
	NameMethod: {
		"cs-method", "request.method", "ClientRequestMethod", "request_method", "method", "httpRequest.requestMethod",
		"http.request.method",
	},
	NameClient: {
		"c-ip", "request.client_ip", "request.remote_ip", "ClientIP", "remote_addr", "client_ip", "httpRequest.remoteIp", "client",
		"ip", "source.ip",
	},
	NameProtocol: {
		"cs-protocol-version", "cs-version", "request.proto", "ClientRequestProtocol", "server_protocol", "httpRequest.protocol",
		"protocol",
	},
	NameUser: {"cs-username", "user_id", "remote_user", "user"},
}

// exportNames are names of the column of the URL in tables that tools for search engines export:
// Google's Search Console and Analytics, Bing's Webmaster Tools, Screaming Frog, Ahrefs and others,
// in English and other languages. Of a link, the URL is its target: the page that is read for it. A
// name counts only if the values in the first rows do not contradict it, see [table.Sample].
var exportNames = []string{
	"top pages", "pages", "full page url", "page url", "page location", "landing page", "landing page + query string", "page path",
	"page path and screen class", "page path + query string", "page path + query string and screen class", "original url",
	"target url", "target page", "destination", "destination url", "final url", "website url", "site url",
	"Die häufigsten Seiten", "Häufigste Seiten", "Seiten", "Seite", "Zielseite", "Landingpage", "Adresse",
	"Pages les plus populaires", "Page de destination",
	"Páginas principales", "Página", "Páginas", "Página de destino", "Dirección", //nolint:misspell // Spanish
	"Pagine principali", "Pagina", "Pagine", "Pagina di destinazione", "Indirizzo",
	"Principais páginas", "Páginas principais", "Endereço",
	"Populairste pagina's", "Pagina's", "Landingspagina",
	"Самые популярные страницы", "Страница",
	"上位のページ", "ページ", "ランディング ページ", "ランディングページ", "ページパス",
}

// candidates returns the fields that may hold the meaning name: the field that was chosen for it,
// or else the known ones.
func candidates(name, chosen string) []string {
	if chosen != "" {
		return []string{chosen}
	}
	return known[name]
}

// Wanted returns the names of all fields that a parser with these options looks for.
func Wanted(opt Options) []string {
	names := slices.Concat(candidates(nameURL, opt.URL), candidates(NameHost, opt.Host), known[nameScheme], candidates(NameAgent, opt.Agent),
		candidates(NameClient, opt.Client), candidates(NameTime, opt.Time))
	for _, name := range opt.Keep {
		names = append(names, toKeep(name)...)
	}
	return names
}

// toKeep returns the fields that may hold a column to keep: the known fields of that meaning, and
// the field of that very name.
func toKeep(name string) []string {
	if names := known[name]; names != nil && name != nameURL && name != nameScheme && name != namePort {
		return slices.Concat(names, []string{name})
	}
	return []string{name}
}
