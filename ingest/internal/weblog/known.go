package weblog

import (
	"bytes"
	"slices"
)

// Formats that are read by patterns. Combined includes the Common and the Combined Log Format, also with a virtual host
// before the line and more fields after it.
const (
	Combined Format = "combined"
	ALB      Format = "alb" // access logs of AWS application and classic load balancers
	NPM      Format = "npm" // Nginx Proxy Manager
	HAProxy  Format = "haproxy"
	Squid    Format = "squid"
	S3       Format = "s3"    // server access logs of Amazon S3
	Envoy    Format = "envoy" // the default formats of Envoy and Istio
)

// behindIdent is the part that nearly all patterns of Combined have after the ident field.
const behindIdent = ` $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" "$http_user_agent"(? "$x_forwarded_for"`

// Parts that several patterns share.
const (
	behindTimers = `$remote_addr:$client_port [$time_local] $frontend $backend/$server $timers $status $bytes_sent $request_cookie ` +
		`$response_cookie $termination_state $connections $queues_and_headers`
	behindOwner = `$bucket_owner $bucket [$time_local] $remote_addr $requester $request_id $operation $key `
	behindSent  = `$duration $upstream_service_time "$x_forwarded_for" "$http_user_agent" "$request_id" "$host" "$upstream_host"`
)

// Formats and their patterns. The first pattern that matches a line counts. $vhost includes the port. $address is an
// address or a host name, and more addresses may follow it. $site is a host name, but not an address. $agent is not a
// list.
var (
	combinedFormat = format{
		name: Combined, aliases: []string{"common", "clf", "apache", "nginx"},
		about: "Common and Combined Log Format: Apache, nginx and many others",
		patterns: []string{
			`$remote_addr $word` + behindIdent,
			`$vhost "$address" $ident` + behindIdent,
			`$vhost $address $ident` + behindIdent,
			`"$vhost" $address $ident` + behindIdent,
			`"$remote_addr" $ident` + behindIdent,
			`$remote_addr $site` + behindIdent,
			`$vhost $address $ident $remote_user [$time_local] \($request_time s) "$request" $status $bytes_sent "$http_referer" "$http_user_agent"`, // Gandi
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
			behindTimers + ` {$site|$agent}$response_headers "$request"`, // captured headers
			behindTimers + ` {$agent|$site}$response_headers "$request"`,
			behindTimers + ` {$agent}$response_headers "$request"`,
			behindTimers + ` {$site|$request_headers}$response_headers "$request"`,
			behindTimers + ` {$site}$response_headers "$request"`,
			behindTimers + ` "$request"`,
		},
		hash:   true,
		joined: isJoinedCombined,
	}
	squidFormat = format{
		name: Squid, about: "Squid's own format",
		patterns: []string{`$msec  $response_time $remote_addr $result/$status $bytes_sent $request_method $url $remote_user $hierarchy $content_type`},
	}
	s3Format = format{
		name: S3, about: "server access logs of Amazon S3",
		patterns: []string{
			behindOwner + `"$request" $status $error_code $bytes_sent $object_size $total_time $turn_around_time "$http_referer" "$http_user_agent" ` +
				`$version_id $host_id $signature_version $cipher_suite $authentication_type $host $tls_version $access_point_arn $acl_required`,
			behindOwner + `$request_uri $status $error_code $bytes_sent`, // "-" for operations of Amazon itself
		},
		joined: isJoinedCombined,
	}
	envoyFormat = format{
		name: Envoy, aliases: []string{"istio"},
		about: "Envoy's and Istio's default text",
		patterns: []string{
			`[$moment] "$request" $status $response_flags $bytes_received $bytes_sent ` + behindSent,
			`[$moment] "$request" $status $response_flags $response_code_details $connection_termination_details ` +
				`"$upstream_transport_failure_reason" $bytes_received $bytes_sent ` + behindSent +
				` $upstream_cluster $upstream_local_address $downstream_local_address $downstream_remote_address ` +
				`$requested_server_name $route_name`,
		},
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

// signsOf returns the signs of a line, see pattern.must.
func signsOf(line []byte) (signs byte) {
	if isURL(line) || isJSON(line) {
		return 0
	}
	signs = anySign
	if bytes.IndexByte(line, ']') >= 0 {
		signs |= bracketSign
	}
	if bytes.IndexByte(line, '"') >= 0 {
		signs |= quoteSign
	}
	return signs
}

// isLine reports whether a line with these signs has the format.
func (f *format) isLine(line []byte, signs byte) bool {
	if f.line != nil {
		return f.line(line)
	}
	shapes := f.shapes()
	return signs != 0 && f.must&^signs == 0 && slices.ContainsFunc(shapes, func(p *pattern) bool { return p.isLine(line, signs) })
}

// isLine reports whether a line matches a pattern. Nearly all other lines lack one of its signs.
func (p *pattern) isLine(line []byte, signs byte) bool {
	first := &p.fields[0]
	if p.must&^signs != 0 || first.class != anyValue && first.end == byByte && len(p.lead) == 0 && !first.allows(firstWord(line)) {
		return false
	}
	var fields [maxFields][]byte
	_, result := p.split(line, fields[:], false)
	return result == IsRow
}
