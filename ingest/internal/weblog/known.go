package weblog

import (
	"slices"
)

// Formats whose lines are read by patterns. Combined is the Common and the Combined Log Format, with a virtual host in
// front and more fields behind.
const (
	Combined Format = "combined"
	ALB      Format = "alb" // of access logs of AWS application and classic load balancers
	NPM      Format = "npm" // of Nginx Proxy Manager
	HAProxy  Format = "haproxy"
)

// behindIdent is the rest of all lines of Combined.
const behindIdent = ` $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" "$http_user_agent"(? "$x_forwarded_for"`

// Formats of lines, as patterns: of those of a format, the first that a line fits counts. $vhost has its port, $address is an
// address or the name of a host, and addresses may follow it.
var (
	combinedFormat = format{
		name: Combined, aliases: []string{"common", "clf", "apache", "nginx"},
		about: "Common and Combined Log Format: Apache, nginx and many others",
		patterns: []string{
			`$remote_addr $word` + behindIdent,
			`$vhost $address $ident` + behindIdent,
			`"$vhost" $address $ident` + behindIdent,
			`"$remote_addr" $ident` + behindIdent,
			`$remote_addr $ident` + behindIdent,
		},
		joined: isJoinedCombined,
	}
	npmFormat = format{
		name: NPM, aliases: []string{"nginx-proxy-manager"},
		about: "Nginx Proxy Manager",
		patterns: []string{
			`[$time_local] $upstream_cache_status $upstream_status $status - $request_method $scheme $host "$request_uri" ` +
				`[Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio] [Sent-to $server] "$http_user_agent" "$http_referer"`,
			`[$time_local] $status - $request_method $scheme $host "$request_uri" ` +
				`[Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio] "$http_user_agent" "$http_referer"`,
		},
		joined: isJoinedCombined,
	}
	haproxyFormat = format{
		name: HAProxy, about: "HAProxy: option httplog",
		patterns: []string{
			`$remote_addr:$client_port [$time_local] $frontend $backend/$server $timers $status $bytes_sent $request_cookie ` +
				`$response_cookie $termination_state $connections $queues_and_headers "$request"`,
		},
		hash:   true,
		joined: isJoinedCombined,
	}
	albFormat = format{
		name: ALB, aliases: []string{"elb"},
		about: "access logs of AWS application and classic load balancers",
		patterns: []string{
			`$type $moment $elb $remote_addr:$client_port $target $request_processing_time $target_processing_time ` +
				`$response_processing_time $status $target_status $received_bytes $bytes_sent "$request" "$http_user_agent" $ssl_cipher ` +
				`$ssl_protocol $target_group_arn "$trace_id" "$domain" "$chosen_cert_arn" $matched_rule_priority ` +
				`$request_creation_time "$actions_executed" "$redirect_url" "$error_reason"`,
			`$moment $elb $remote_addr:$client_port $target $request_processing_time $target_processing_time ` +
				`$response_processing_time $status $target_status $received_bytes $bytes_sent "$request" "$http_user_agent" $ssl_cipher ` +
				`$ssl_protocol`,
		},
		sure:   2,
		joined: isJoinedALB,
	}
)

// isLine reports whether a line is of a format.
func (f *format) isLine(line []byte) bool {
	switch {
	case f.line != nil:
		return f.line(line)
	case len(f.patterns) == 0 || isURL(line) || isJSON(line):
		return false
	}
	var fields [maxFields][]byte
	return slices.ContainsFunc(f.shapes(), func(p *pattern) bool {
		_, result := p.split(line, fields[:])
		return result == IsRow
	})
}
