package s3

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cleared removes what the environment of the tests says of stores.
func cleared(t *testing.T) (dir string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	dir = t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return dir
}

// shared writes a shared file.
func shared(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".aws"), 0o700), os.WriteFile(filepath.Join(dir, ".aws", name), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestConfig reads what environment and shared files say, the environment first.
func TestConfig(t *testing.T) {
	dir := cleared(t)
	c, err := readConfig()
	if err != nil || c.host != amazon || !c.secure || c.region != "" || c.roots != nil {
		t.Errorf("%+v, %v", c, err)
	}
	shared(t, dir, "config", "[default]\nregion = eu-west-1\n[profile other]\nregion=us-west-2\nendpoint_url = http://127.0.0.1:9000\ns3 =\n  max_concurrent_requests = 20\n")
	shared(t, dir, "credentials", "[default]\naws_access_key_id = ID\naws_secret_access_key = SECRET\n[other]\naws_access_key_id = OTHER\naws_secret_access_key = SECRET2\naws_session_token = TOKEN\n")
	if c, err = readConfig(); err != nil || c.region != "eu-west-1" {
		t.Errorf("%+v, %v", c, err)
	}
	if value, err := (&chain{config: &c}).Retrieve(); err != nil || value.AccessKeyID != "ID" {
		t.Errorf("%+v, %v", value, err)
	}
	t.Setenv("AWS_PROFILE", "other")
	if c, err = readConfig(); err != nil || c.region != "us-west-2" || c.host != "127.0.0.1:9000" || c.secure {
		t.Errorf("%+v, %v", c, err)
	}
	creds := &chain{config: &c}
	if value, err := creds.Retrieve(); err != nil || value.AccessKeyID != "OTHER" || value.SessionToken != "TOKEN" || creds.IsExpired() {
		t.Errorf("%+v, %v", value, err)
	}
	if got := creds.redact("id OTHER, secret SECRET2, token TOKEN"); got != "id [hidden], secret [hidden], token [hidden]" {
		t.Error(got)
	}
	t.Setenv("AWS_ENDPOINT_URL", "https://store.example")
	t.Setenv("AWS_REGION", "here")
	if c, err = readConfig(); err != nil || c.region != "here" || c.host != "store.example" || !c.secure {
		t.Errorf("%+v, %v", c, err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "https://s3.example:9")
	if c, err = readConfig(); err != nil || c.host != "s3.example:9" {
		t.Errorf("%+v, %v", c, err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "ENV")
	if _, err := (&chain{config: &c}).Retrieve(); !errors.Is(err, ErrCredentials) || !strings.Contains(err.Error(), "set both") {
		t.Error(err)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "S")
	if value, err := (&chain{config: &c}).Retrieve(); err != nil || value.AccessKeyID != "ENV" {
		t.Errorf("%+v, %v", value, err)
	}
}

// TestConfigFaults holds that what is wrong is named, and no value is.
func TestConfigFaults(t *testing.T) {
	const secret = "sesame"
	for name, tt := range map[string]struct {
		set, value string
		config     string
		text       string
	}{
		"password":    {"AWS_ENDPOINT_URL", "https://me:" + secret + "@store.example", "", "has a user name or password"},
		"query":       {"AWS_ENDPOINT_URL", "https://store.example/?X-Amz-Signature=" + secret, "", "has a path or a query"},
		"no URL":      {"AWS_ENDPOINT_URL", "https://" + secret + "\x7f", "", "is no URL"},
		"no scheme":   {"AWS_ENDPOINT_URL", secret + ".example:9000", "", "no scheme http or https"},
		"other":       {"AWS_ENDPOINT_URL", "ftp://" + secret, "", "no scheme http or https"},
		"no bundle":   {"AWS_CA_BUNDLE", "none.pem", "", "AWS_CA_BUNDLE: open none.pem"},
		"bad bundle":  {"AWS_CA_BUNDLE", "/dev/null", "", "has no certificate"},
		"no profile":  {"AWS_PROFILE", "nobody", "[default]\nregion = x\n", "AWS_PROFILE names the profile"},
		"bad file":    {"AWS_REGION", "x", "[default\naws_secret_access_key = " + secret + "\n", "is no configuration"},
		"no profile2": {"AWS_PROFILE", "other", "[other]\nregion = x\n", "AWS_PROFILE names the profile"}, // of the config file it is [profile other]
	} {
		t.Run(name, func(t *testing.T) {
			dir := cleared(t)
			t.Setenv(tt.set, tt.value)
			if tt.config != "" {
				shared(t, dir, "config", tt.config)
			}
			if _, err := readConfig(); err == nil || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), secret) {
				t.Error(err)
			}
		})
	}
	for name, config := range map[string]string{
		"role_arn": "[profile x]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = y\n",
		"is empty": "[profile x]\nregion = x\n",
	} {
		dir := cleared(t)
		shared(t, dir, "config", config)
		t.Setenv("AWS_PROFILE", "x")
		c, err := readConfig()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&chain{config: &c}).Retrieve(); !errors.Is(err, ErrCredentials) {
			t.Errorf("%s: %v", name, err)
		} else if c.role != strings.Contains(err.Error(), "export-credentials") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
