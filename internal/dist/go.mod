module github.com/robobatch/robobatch/internal/dist

go 1.26.8

require (
	github.com/BurntSushi/toml v1.6.0
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
	golang.org/x/mod v0.41.0
)

require github.com/CycloneDX/cyclonedx-go v0.12.0
