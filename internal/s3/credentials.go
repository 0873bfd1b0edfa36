package s3

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A chain provides the credentials of the first source that has some: environment, web identity, shared files, role of
// the container, role of the machine. It remembers the secrets that it found, in order to remove them from messages.
type chain struct {
	config *config

	mu      sync.Mutex
	current credentials.Provider
	lasts   bool // the credentials of current do not expire
	secrets []string
}

// Retrieve returns credentials.
func (c *chain) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext returns credentials, and remembers their source and their secrets. The error wraps
// ErrCredentials: there are none, or the requested ones are unavailable, and why. It is an outage if a service could
// not be reached.
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	providers, err := c.providers()
	if err != nil {
		return credentials.Value{}, err
	}
	for _, p := range providers {
		value, err := p.retrieve(cc)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			c.current, c.lasts = p.Provider, value.Expiration.IsZero()
			c.noteSecrets(value)
			return value, nil
		}
		if p.must {
			_, isNet := errors.AsType[net.Error](err)
			reason := c.describeError(cmp.Or(err, errors.New("it is empty")))
			err = fmt.Errorf("%w: %s gives none: %w", ErrCredentials, p.name, reason)
			if isNet && !isOurs(reason) {
				err = &outage{err, false}
			}
			return credentials.Value{}, err
		}
	}
	return credentials.Value{}, fmt.Errorf("%w: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE", ErrCredentials)
}

// noteSecrets remembers secrets for redact. The caller holds the lock.
func (c *chain) noteSecrets(v credentials.Value) {
	for _, secret := range []string{v.SecretAccessKey, v.SessionToken, v.AccessKeyID} {
		if secret != "" && !slices.Contains(c.secrets, secret) {
			c.secrets = append(c.secrets, secret)
		}
	}
}

// describeError returns the error of a provider for messages, without secrets: one of this package if it is of a known
// kind. The caller holds the lock.
func (c *chain) describeError(err error) error {
	if err = classifyNetError(err); isOurs(err) {
		return err
	}
	return errors.New(printable(c.redactLocked(err.Error()), 300))
}

// IsExpired reports whether new credentials are needed.
func (c *chain) IsExpired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current == nil || !c.lasts && c.current.IsExpired()
}

// A provider is a source of credentials.
type provider struct {
	credentials.Provider
	name    string
	must    bool // an error ends the search, because the user has requested this source
	service bool // retry errors: the service may be busy when all tasks of a cluster start
}

// retrieve returns the provider's credentials. If it is a service, it is asked up to four times, with pauses, until it
// answers or Interrupt is called.
func (p *provider) retrieve(cc *credentials.CredContext) (credentials.Value, error) {
	const attempts, pause = 4, 200 * time.Millisecond
	for n := 0; ; n++ {
		value, err := p.RetrieveWithCredContext(cc)
		if err == nil || !p.service || n == attempts-1 || interrupted.Err() != nil {
			return value, err
		}
		time.Sleep(pause << n)
	}
}

// providers returns the sources to ask, in order. The error wraps ErrCredentials: the environment or the profile
// contradicts itself.
func (c *chain) providers() (all []provider, err error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if (id == "") != (secret == "") {
		return nil, fmt.Errorf("%w: only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both", ErrCredentials)
	}
	if id != "" {
		return []provider{{&credentials.EnvAWS{}, "the environment", true, false}}, nil
	}
	if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		return []provider{{&credentials.IAM{Client: c.httpClient(true), Endpoint: c.config.stsEndpoint()}, "the web identity", true, true}}, nil
	}
	name, asked := profileName()
	if asksForRole(c.config.profile) {
		role, err := c.roleOf(name, c.config.profile, 0)
		if err != nil {
			return nil, fmt.Errorf("%w: the role of the profile %q cannot be assumed: %w", ErrCredentials, name, err)
		}
		return []provider{{role, fmt.Sprintf("the role of the profile %q", name), true, true}}, nil
	}
	all = append(all, provider{&credentials.FileAWSCredentials{Profile: name}, fmt.Sprintf("the profile %q", name), asked, false})
	container := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	if container || !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		all = append(all, provider{&credentials.IAM{Client: c.httpClient(false)}, "the role of the container", container, container})
	}
	return all, nil
}

// httpClient returns an HTTP client for the services that provide credentials. It uses a proxy only if proxy is set:
// services of the local machine are accessed without one. It does not follow redirects.
func (c *chain) httpClient(proxy bool) *http.Client {
	t := c.config.transport()
	if !proxy {
		t.Proxy = nil
	}
	t.ResponseHeaderTimeout = 5 * time.Second
	return &http.Client{Transport: t, Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// redact removes secrets from a text.
func (c *chain) redact(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.redactLocked(text)
}

// redactLocked is redact for a caller that holds the lock.
func (c *chain) redactLocked(text string) string {
	for _, secret := range c.secrets {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}

// A role provides the credentials of the role in a profile, which it requests with the credentials of its source.
type role struct {
	credentials.STSAssumeRole
	source credentials.Provider
	keep   func(credentials.Value) // remembers the credentials of the source for redact
}

// Retrieve returns credentials.
func (r *role) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext returns the credentials of the role. The error may be that of its source.
func (r *role) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := r.source.RetrieveWithCredContext(cc)
	if err != nil {
		return v, fmt.Errorf("its source: %w", err)
	}
	if v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return v, errors.New("its source has none")
	}
	r.keep(v)
	r.Options.AccessKey, r.Options.SecretKey, r.Options.SessionToken = v.AccessKeyID, v.SecretAccessKey, v.SessionToken
	return r.STSAssumeRole.RetrieveWithCredContext(cc)
}

// maxRoles is the maximum number of roles that are each the source of the next.
const maxRoles = 5

// asksForRole reports whether a profile names a role, and has no keys of its own.
func asksForRole(profile map[string]string) bool {
	return profile["role_arn"] != "" && (profile["aws_access_key_id"] == "" || profile["source_profile"] != "")
}

// roleOf returns the provider for the role of a profile, which must name one. name is the name of the profile. depth is
// the number of roles for which this one is the source; more than maxRoles are an error.
func (c *chain) roleOf(name string, profile map[string]string, depth int) (credentials.Provider, error) {
	seconds, err := strconv.Atoi(cmp.Or(profile["duration_seconds"], "0"))
	switch {
	case err != nil:
		return nil, errors.New("its duration_seconds is not a number")
	case depth == maxRoles:
		return nil, errors.New("its roles form a cycle")
	case profile["mfa_serial"] != "":
		return nil, errors.New(`it requires a code (mfa_serial), which robobatch cannot ask for; use, for example: eval "$(aws configure export-credentials --format env)"`)
	}
	client := c.httpClient(true)
	if file := profile["web_identity_token_file"]; file != "" {
		iam := &credentials.IAM{Client: client, Endpoint: c.config.stsEndpoint()}
		iam.EKSIdentity.TokenFile, iam.EKSIdentity.RoleARN, iam.EKSIdentity.RoleSessionName = file, profile["role_arn"], profile["role_session_name"]
		return iam, nil
	}
	source, err := c.sourceOf(name, profile, depth)
	if err != nil {
		return nil, err
	}
	return &role{STSAssumeRole: credentials.STSAssumeRole{Client: client, STSEndpoint: c.config.stsEndpoint(), Options: credentials.STSAssumeRoleOptions{
		Location: cmp.Or(c.config.region, "us-east-1"), DurationSeconds: seconds, ExternalID: profile["external_id"],
		RoleARN: profile["role_arn"], RoleSessionName: cmp.Or(profile["role_session_name"], "robobatch"),
	}}, source: source, keep: c.noteSecrets}, nil
}

// sourceOf returns the provider of the credentials with which the role of a profile is requested: another profile, its
// role, or the credential_source. depth is as in roleOf.
func (c *chain) sourceOf(name string, profile map[string]string, depth int) (credentials.Provider, error) {
	switch source, from := profile["source_profile"], profile["credential_source"]; {
	case source == name:
		return &credentials.FileAWSCredentials{Profile: name}, nil
	case source != "":
		settings, err := readProfile(source)
		switch {
		case err != nil:
			return nil, err
		case settings == nil:
			return nil, fmt.Errorf("its source_profile %q is in neither of the shared files", source)
		case asksForRole(settings):
			return c.roleOf(source, settings, depth+1)
		}
		return &credentials.FileAWSCredentials{Profile: source}, nil
	case from == "Ec2InstanceMetadata" || from == "EcsContainer":
		return &credentials.IAM{Client: c.httpClient(false)}, nil
	case from == "Environment":
		return &credentials.EnvAWS{}, nil
	}
	return nil, errors.New("it has a role_arn, but no known source_profile or credential_source")
}

// stsEndpoint returns the endpoint of the service that provides credentials of roles: by default, that of Amazon in the
// region.
func (c *config) stsEndpoint() string {
	switch {
	case c.roles != "":
		return c.roles
	case c.region == "":
		return credentials.DefaultSTSRoleEndpoint
	case strings.HasPrefix(c.region, "cn-"):
		return "https://sts." + c.region + ".amazonaws.com.cn"
	}
	return "https://sts." + c.region + ".amazonaws.com"
}
