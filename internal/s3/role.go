package s3

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A role gives the credentials of a role that a profile names. The credentials of its source ask for them.
type role struct {
	credentials.STSAssumeRole
	source credentials.Provider
	keep   func(credentials.Value) // so that no message shows the source's credentials
}

// Retrieve returns credentials.
func (r *role) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }

// RetrieveWithCredContext returns credentials.
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

// maxRoles is how many roles may be the source of each other.
const maxRoles = 5

// asksForRole reports whether a profile has no keys of its own.
func asksForRole(profile map[string]string) bool {
	return profile["role_arn"] != "" && (profile["aws_access_key_id"] == "" || profile["source_profile"] != "")
}

// roleOf returns the provider of the role that a profile asks for.
func (c *chain) roleOf(name string, profile map[string]string, depth int) (credentials.Provider, error) {
	seconds, err := strconv.Atoi(cmp.Or(profile["duration_seconds"], "0"))
	switch {
	case err != nil:
		return nil, errors.New("its duration_seconds is no number")
	case depth == maxRoles:
		return nil, errors.New("its roles are the source of each other")
	case profile["mfa_serial"] != "":
		return nil, errors.New(`it asks for a code (mfa_serial), which cannot be given here; as in: eval "$(aws configure export-credentials --format env)"`)
	}
	client := c.client(true)
	if file := profile["web_identity_token_file"]; file != "" {
		iam := &credentials.IAM{Client: client, Endpoint: c.config.sts()}
		iam.EKSIdentity.TokenFile, iam.EKSIdentity.RoleARN, iam.EKSIdentity.RoleSessionName = file, profile["role_arn"], profile["role_session_name"]
		return iam, nil
	}
	source, err := c.sourceOf(name, profile, depth)
	if err != nil {
		return nil, err
	}
	return &role{STSAssumeRole: credentials.STSAssumeRole{Client: client, STSEndpoint: c.config.sts(), Options: credentials.STSAssumeRoleOptions{
		Location: cmp.Or(c.config.region, "us-east-1"), DurationSeconds: seconds, ExternalID: profile["external_id"],
		RoleARN: profile["role_arn"], RoleSessionName: cmp.Or(profile["role_session_name"], "robobatch"),
	}}, source: source, keep: c.noteSecrets}, nil
}

// sourceOf returns the provider of the credentials that ask for a role.
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
		return &credentials.IAM{Client: c.client(false)}, nil
	case from == "Environment":
		return &credentials.EnvAWS{}, nil
	}
	return nil, errors.New("it has a role_arn, and no source_profile or credential_source that is known")
}

// sts returns the endpoint of the service that gives credentials of roles: Amazon's in the region, or
// of AWS_ENDPOINT_URL_STS, or of AWS_ENDPOINT_URL if that is another store than Amazon's.
func (c *config) sts() string {
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

// parseSTS returns the endpoint that the environment names, "" for Amazon's.
func parseSTS(endpoint string) (string, error) {
	if given := os.Getenv("AWS_ENDPOINT_URL_STS"); given != "" {
		_, _, err := parseEndpoint("AWS_ENDPOINT_URL_STS", given)
		return given, err
	}
	host, _, err := parseEndpoint("AWS_ENDPOINT_URL", cmp.Or(endpoint, "https://"+amazon))
	if name, _, _ := strings.Cut(host, ":"); strings.HasSuffix(name, ".amazonaws.com") || strings.HasSuffix(name, ".amazonaws.com.cn") {
		return "", err
	}
	return endpoint, err
}
