package s3

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/fakestore"
)

// cleared removes settings for object storage from the environment.
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

// TestConfig tests the settings from the environment and shared files; the environment takes precedence.
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

// TestConfigFaults tests that errors name the setting, but not its value.
func TestConfigFaults(t *testing.T) {
	const secret = "sesame"
	for name, tt := range map[string]struct {
		set, value string
		config     string
		text       string
	}{
		"password":    {"AWS_ENDPOINT_URL", "https://me:" + secret + "@store.example", "", "contains a user name or password"},
		"query":       {"AWS_ENDPOINT_URL", "https://store.example/?X-Amz-Signature=" + secret, "", "has a path or a query"},
		"no URL":      {"AWS_ENDPOINT_URL", "https://" + secret + "\x7f", "", "is not a URL"},
		"no scheme":   {"AWS_ENDPOINT_URL", secret + ".example:9000", "", "no scheme http or https"},
		"other":       {"AWS_ENDPOINT_URL", "ftp://" + secret, "", "no scheme http or https"},
		"no bundle":   {"AWS_CA_BUNDLE", "none.pem", "", "AWS_CA_BUNDLE: open none.pem"},
		"STS":         {"AWS_ENDPOINT_URL_STS", "https://me:" + secret + "@sts.example", "", "the endpoint of AWS_ENDPOINT_URL_STS contains a user name or password"},
		"bad bundle":  {"AWS_CA_BUNDLE", "/dev/null", "", "has no PEM certificate"},
		"no profile":  {"AWS_PROFILE", "nobody", "[default]\nregion = x\n", "AWS_PROFILE names the profile"},
		"bad file":    {"AWS_REGION", "x", "[default\naws_secret_access_key = " + secret + "\n", "is not a configuration"},
		"no profile2": {"AWS_PROFILE", "other", "[other]\nregion = x\n", "AWS_PROFILE names the profile"}, // of the config file it is [profile other]
	} {
		t.Run(name, func(t *testing.T) {
			dir := cleared(t)
			t.Setenv(tt.set, tt.value)
			if tt.config != "" {
				shared(t, dir, "config", tt.config)
			}
			if _, err := readConfig(); err == nil || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), secret) || errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		})
	}
	for config, want := range map[string]string{
		"region = x\n":                                                             `the profile "x" gives none: it is empty`,
		"role_arn = arn:aws:iam::1:role/x\n":                                       `the role of the profile "x" cannot be assumed: it has a role_arn, but no known source_profile or credential_source`,
		"role_arn = arn:aws:iam::1:role/x\nsource_profile = y\n":                   `the role of the profile "x" cannot be assumed: its source_profile "y" is in neither of the shared files`,
		"role_arn = arn:aws:iam::1:role/x\nsource_profile = x\nmfa_serial = arn\n": "it requires a code (mfa_serial), which robobatch cannot ask for; use, for example: eval",
		"role_arn = arn:aws:iam::1:role/x\nsource_profile = z\n[profile z]\nrole_arn = r\nsource_profile = x\n": "its roles form a cycle",
		"role_arn = arn:aws:iam::1:role/x\nsource_profile = x\nduration_seconds = 1h\n":                         "its duration_seconds is not a number",
	} {
		dir := cleared(t)
		shared(t, dir, "config", "[profile x]\n"+config)
		t.Setenv("AWS_PROFILE", "x")
		c, err := readConfig()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&chain{config: &c}).Retrieve(); !errors.Is(err, ErrCredentials) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", config, err)
		}
	}
}

// A service is one that gives credentials, those of the fake store.
type service struct {
	*httptest.Server
	asked []string // the forms that were sent, and the headers for authorisation
	busy  int      // requests that are refused first
}

// newService starts an HTTPS service with a trusted certificate.
func newService(t *testing.T, dir string) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "service.pem"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", filepath.Join(dir, "service.pem"))
	return s
}

// ServeHTTP answers as the service for tokens of Amazon does, or as that of a container.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	s.asked = append(s.asked, r.Form.Encode()+" "+r.Header.Get("Authorization"))
	if s.busy > 0 {
		s.busy--
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Code>Throttling</Code><Message>Rate exceeded, SECRET of you</Message></Error></ErrorResponse>")
		return
	}
	const form = "<%[1]sResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId>" +
		"<SecretAccessKey>%[3]s</SecretAccessKey><SessionToken>%[4]s</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></%[1]sResult></%[1]sResponse>"
	if action := r.Form.Get("Action"); action != "" {
		fmt.Fprintf(w, form, action, fakestore.Key, fakestore.Secret, fakestore.Token)
		return
	}
	fmt.Fprintf(w, `{"AccessKeyId": %q, "SecretAccessKey": %q, "Token": %q, "Expiration": "2100-01-01T00:00:00Z"}`, fakestore.Key, fakestore.Secret, fakestore.Token)
}

// TestRoles gets credentials like pods of EKS, like containers, and by profiles with roles.
func TestRoles(t *testing.T) {
	const source = "aws_access_key_id = SOURCE\naws_secret_access_key = SECRET\n"
	for name, tt := range map[string]struct {
		variables string // the URL of the service is URL, the directory is DIR
		config    string
		busy      int
		asked     string // a pattern; "" if there are no credentials
	}{
		"web identity": {
			"AWS_WEB_IDENTITY_TOKEN_FILE=DIR/token AWS_ROLE_ARN=arn:r AWS_ENDPOINT_URL_STS=URL", "", 2,
			`^Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Ar&RoleSessionName=\d+&Version=2011-06-15&WebIdentityToken=SESAME $`,
		},
		"of another store": {"AWS_WEB_IDENTITY_TOKEN_FILE=DIR/token AWS_ENDPOINT_URL=URL", "", 0, `^Action=AssumeRoleWithWebIdentity&Version=2011-06-15&WebIdentityToken=SESAME $`},
		"pod identity":     {"AWS_CONTAINER_CREDENTIALS_FULL_URI=URL AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=DIR/token", "", 0, `^ SESAME$`},
		"container":        {"AWS_CONTAINER_CREDENTIALS_FULL_URI=URL AWS_CONTAINER_AUTHORIZATION_TOKEN=T", "", 3, `^ T$`},
		"source_profile": {
			"AWS_PROFILE=x AWS_ENDPOINT_URL_STS=URL AWS_REGION=eu-west-1",
			"[profile x]\nrole_arn = arn:r\nsource_profile = y\nexternal_id = e\nrole_session_name = me\nduration_seconds = 900\n[profile y]\n" + source, 0,
			`^Action=AssumeRole&DurationSeconds=900&ExternalId=e&RoleArn=arn%3Ar&RoleSessionName=me&Version=2011-06-15 AWS4-HMAC-SHA256 Credential=SOURCE/\d+/eu-west-1/sts/`,
		},
		"its own keys": {
			"AWS_PROFILE=x AWS_ENDPOINT_URL_STS=URL", "[profile x]\nrole_arn = arn:r\nsource_profile = x\n" + source, 0,
			`^Action=AssumeRole&RoleArn=arn%3Ar&RoleSessionName=robobatch&Version=2011-06-15 AWS4-HMAC-SHA256 Credential=SOURCE/\d+/us-east-1/sts/`,
		},
		"role of a role": {
			"AWS_PROFILE=x AWS_ENDPOINT_URL_STS=URL", "[profile x]\nrole_arn = arn:r\nsource_profile = y\n[profile y]\nrole_arn = arn:s\nsource_profile = z\n[profile z]\n" + source, 0,
			`^Action=AssumeRole&RoleArn=arn%3Ar&RoleSessionName=robobatch&Version=2011-06-15 AWS4-HMAC-SHA256 Credential=` + fakestore.Key,
		},
		"role by token": {
			"AWS_PROFILE=x AWS_ENDPOINT_URL_STS=URL", "[profile x]\nrole_arn = arn:r\nweb_identity_token_file = DIR/token\nrole_session_name = me\n", 0,
			`^Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Ar&RoleSessionName=me&Version=2011-06-15&WebIdentityToken=SESAME $`,
		},
		"role of a container": {
			"AWS_PROFILE=x AWS_ENDPOINT_URL_STS=URL AWS_CONTAINER_CREDENTIALS_FULL_URI=URL", "[profile x]\nrole_arn = arn:r\ncredential_source = EcsContainer\n", 0,
			`^Action=AssumeRole&RoleArn=arn%3Ar&RoleSessionName=robobatch&Version=2011-06-15 AWS4-HMAC-SHA256 Credential=` + fakestore.Key,
		},
		"busy": {"AWS_PROFILE=x AWS_ENDPOINT_URL_STS=URL", "[profile x]\nrole_arn = arn:r\nsource_profile = x\n" + source, 9, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cleared(t)
			service := newService(t, dir)
			service.busy = tt.busy
			fill := strings.NewReplacer("URL=URL", "URL="+service.URL, "_STS=URL", "_STS="+service.URL, "_URI=URL", "_URI="+service.URL, "DIR", dir)
			for variable := range strings.FieldsSeq(tt.variables) {
				name, value, _ := strings.Cut(fill.Replace(variable), "=")
				t.Setenv(name, value)
			}
			shared(t, dir, "config", fill.Replace(tt.config))
			if err := os.WriteFile(filepath.Join(dir, "token"), []byte("SESAME"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := readConfig()
			if err != nil {
				t.Fatal(err)
			}
			creds := &chain{config: &c}
			value, err := creds.Retrieve()
			if tt.asked == "" {
				if want := `no credentials for object storage: the role of the profile "x" gives none: Rate exceeded, [hidden] of you`; err == nil || err.Error() != want {
					t.Error(err)
				}
				return
			}
			if err != nil || value.AccessKeyID != fakestore.Key || value.SecretAccessKey != fakestore.Secret || value.SessionToken != fakestore.Token || creds.IsExpired() {
				t.Fatalf("%+v, %v", value, err)
			}
			if last := service.asked[len(service.asked)-1]; !regexp.MustCompile(tt.asked).MatchString(last) {
				t.Error(last)
			}
			if got := creds.redact("SOURCE SECRET " + fakestore.Token); strings.Contains(got, fakestore.Token) || tt.config != "" && strings.Contains(tt.config, source) && got != "[hidden] [hidden] [hidden]" {
				t.Error(got)
			}
		})
	}
}

// TestSTS tests which endpoint is used for the credentials of roles.
func TestSTS(t *testing.T) {
	for variables, want := range map[string]string{
		"":                                    "https://sts.amazonaws.com",
		"AWS_REGION=eu-west-1":                "https://sts.eu-west-1.amazonaws.com",
		"AWS_REGION=cn-north-1":               "https://sts.cn-north-1.amazonaws.com.cn",
		"AWS_ENDPOINT_URL=https://minio:9000": "https://minio:9000",
		"AWS_ENDPOINT_URL_S3=https://minio:9000 AWS_REGION=eu-west-1":              "https://sts.eu-west-1.amazonaws.com",
		"AWS_ENDPOINT_URL=https://s3.eu-west-1.amazonaws.com AWS_REGION=eu-west-1": "https://sts.eu-west-1.amazonaws.com",
		"AWS_ENDPOINT_URL=https://minio:9000 AWS_ENDPOINT_URL_STS=https://sts:1":   "https://sts:1",
	} {
		t.Run(variables, func(t *testing.T) {
			cleared(t)
			for variable := range strings.FieldsSeq(variables) {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			if c, err := readConfig(); err != nil || c.stsEndpoint() != want {
				t.Errorf("%s, %v", c.stsEndpoint(), err)
			}
		})
	}
}
