package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/ini.v1"
)

// A config has the settings from the environment and shared files, except credentials.
type config struct {
	host   string // of the endpoint, with its port
	secure bool   // use TLS
	region string // "" if unknown
	roots  *x509.CertPool
	proxy  func(*http.Request) (*url.URL, error) // nil means proxy from the environment, which a process reads only once
	roles  string                                // endpoint of the service for credentials of roles (STS); "" means Amazon's

	profile map[string]string // settings of the selected profile
}

// amazon is the default endpoint.
const amazon = "s3.amazonaws.com"

// readConfig reads the configuration from the environment and the shared files. Its errors name variables and files,
// never their values.
func readConfig() (c config, err error) {
	name, asked := profileName()
	profile, err := readProfile(name)
	if err != nil {
		return c, err
	}
	if profile == nil && asked {
		return c, fmt.Errorf("AWS_PROFILE names the profile %q, which is in neither the shared config file nor the credentials file", name)
	}
	c.profile = profile
	general := cmp.Or(os.Getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"])
	if c.roles = os.Getenv("AWS_ENDPOINT_URL_STS"); c.roles != "" {
		_, _, err = parseEndpoint("AWS_ENDPOINT_URL_STS", c.roles)
	} else if general != "" {
		var host string
		host, _, err = parseEndpoint("AWS_ENDPOINT_URL", general)
		if name, _, _ := strings.Cut(host, ":"); !strings.HasSuffix(name, ".amazonaws.com") && !strings.HasSuffix(name, ".amazonaws.com.cn") {
			c.roles = general
		}
	}
	if err != nil {
		return c, err
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), general)
	c.region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile["region"])
	c.host, c.secure = amazon, true
	if endpoint != "" {
		if c.host, c.secure, err = parseEndpoint("AWS_ENDPOINT_URL", endpoint); err != nil {
			return c, err
		}
		c.region = cmp.Or(c.region, "us-east-1") // the usual region of other stores
	}
	if bundle := cmp.Or(os.Getenv("AWS_CA_BUNDLE"), profile["ca_bundle"]); bundle != "" {
		text, err := os.ReadFile(bundle)
		if err != nil {
			return c, fmt.Errorf("AWS_CA_BUNDLE: %v", err) //nolint:errorlint // must not match the errors of an object, such as fs.ErrNotExist
		}
		if c.roots = x509.NewCertPool(); !c.roots.AppendCertsFromPEM(text) {
			return c, fmt.Errorf("AWS_CA_BUNDLE: %s has no PEM certificate", bundle)
		}
	}
	return c, nil
}

// parseEndpoint returns the host of an endpoint, with its port, and whether it uses TLS. variable is the name of its
// variable, for errors. Errors do not contain the endpoint, because it may contain a password.
func parseEndpoint(variable, text string) (host string, secure bool, err error) {
	u, err := url.Parse(text)
	const form = "write https://host or https://host:port"
	switch {
	case err != nil:
		return "", false, errors.New("the endpoint of " + variable + " is not a URL: " + form)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return "", false, errors.New("the endpoint of " + variable + " has no scheme http or https, or no host: " + form)
	case u.User != nil:
		return "", false, errors.New("the endpoint of " + variable + " contains a user name or password: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead, and " + form)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", false, errors.New("the endpoint of " + variable + " has a path or a query: " + form)
	}
	return u.Host, u.Scheme == "https", nil
}

// profileName returns the name of the profile, and whether the user has set it.
func profileName() (name string, asked bool) {
	name = cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"))
	return cmp.Or(name, "default"), name != ""
}

// readProfile returns the settings of a profile in the shared files; nil if neither of them has the profile. Settings
// in the credentials file take precedence. A missing file is not an error.
func readProfile(name string) (map[string]string, error) {
	var settings map[string]string
	for _, file := range []struct{ variable, name, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + name},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", name},
	} {
		path := os.Getenv(file.variable)
		if path == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				continue
			}
			path = filepath.Join(home, ".aws", file.name)
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the shared %s file: %v", file.name, err) //nolint:errorlint // as above
		}
		parsed, err := ini.LoadSources(ini.LoadOptions{AllowNestedValues: true, SkipUnrecognizableLines: true}, text)
		if err != nil {
			return nil, fmt.Errorf("the shared %s file %s is not a configuration file of AWS", file.name, path) // err may contain secrets
		}
		for _, section := range parsed.Sections() {
			if section.Name() != file.section && (section.Name() != name || name != "default") {
				continue
			}
			if settings == nil {
				settings = map[string]string{}
			}
			for key, value := range section.KeysHash() {
				settings[key] = value
			}
		}
	}
	return settings, nil
}

// Timeouts after which a request is repeated.
const (
	dialTime   = 15 * time.Second
	headerTime = 60 * time.Second
	idleTime   = 60 * time.Second // since the last byte of a response
)

// transport returns a new transport with the certificates and the proxy of c, and with the timeouts above. Errors of
// the proxy are a proxyError.
func (c *config) transport() *http.Transport {
	through := c.proxy
	if through == nil {
		through = proxy
	}
	return &http.Transport{
		Proxy: through,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyError{"answers " + printable(answer.Status, 60), answer.StatusCode < http.StatusInternalServerError}
		},
		DialContext:           (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots},
		TLSHandshakeTimeout:   dialTime,
		ResponseHeaderTimeout: headerTime,
		IdleConnTimeout:       60 * time.Second,
		MaxIdleConns:          64,
		MaxIdleConnsPerHost:   64,
		ReadBufferSize:        64 << 10,
		DisableCompression:    true, // objects are read as they are stored
	}
}
