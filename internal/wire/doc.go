// Package wire encodes and decodes the length-prefixed integers and strings of rule packs and temporary files.
//
// Every length is validated before it is used. The package does not interpret field contents. Any package may import it.
package wire
